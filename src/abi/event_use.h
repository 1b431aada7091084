// What the event calls share: what an event may be used for, and its latest record. SPEC 20 §§4.1, 4.2.
#pragma once

#include "abi/call.h"
#include "abi/sync.h"

namespace belay::abi {

// A large client passes this for its default events; it may be waited for although SYNC is not in it.
// SPEC 20 §4.1
constexpr uint32_t kClientDefaultFlags = 0x0E;

// Holds the latest record while a call looks at it.
class LatestRecord {
 public:
  explicit LatestRecord(runtime::EventObject& event) : record_(event.event->Latest()) {}
  ~LatestRecord() {
    if (record_ != nullptr) record_->Drop();
  }
  LatestRecord(const LatestRecord&) = delete;
  LatestRecord& operator=(const LatestRecord&) = delete;
  engine::EventRecord* get() const { return record_; }
  engine::EventRecord* operator->() const { return record_; }
  explicit operator bool() const { return record_ != nullptr; }

 private:
  engine::EventRecord* record_;
};

[[gnu::cold]] Status RefuseEventKind(const Call& call, const runtime::EventObject& event, const char* why);
[[gnu::cold]] void NoteUnrecorded(const Call& call, const runtime::EventObject& event, int stream = -1);

// What became of the tasks that the record covers: what stopped its context, a failure that nobody reported,
// or 0. SPEC 21 §6.3
Status ReportRecord(const Call& call, const engine::EventRecord& record);

}  // namespace belay::abi
