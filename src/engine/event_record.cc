#include "engine/event_record.h"

#include <utility>

#include "os/futex.h"

namespace belay::engine {
namespace {
class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) os::Pause();
  }
  ~SpinLock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& flag_;
};
}  // namespace

EventRecord::EventRecord(Event* event) : event_(event) {
  event_->AddReference();
}
EventRecord::~EventRecord() {
  event_->Drop();
}

void EventRecord::Drop() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool EventRecord::HoldId() {
  uint32_t holders = id_holders_.load(std::memory_order_relaxed);
  while (holders != 0 &&
         !id_holders_.compare_exchange_weak(holders, holders + 1, std::memory_order_relaxed)) {
  }
  return holders != 0;
}

void EventRecord::ReleaseId() {
  if (id_holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) event_->ids()->Return(id_);
}

Event::Event(Family family, uint32_t flags, int device, const Traits& traits)
    : family_(family),
      flags_(flags),
      device_(device),
      traits_(traits),
      bit_(traits.bit ? new Signal : nullptr) {}

Event::~Event() {
  if (bit_ != nullptr) bit_->Drop();
}

void Event::Drop() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

EventRecord* Event::NewRecord(uint32_t record_id) {
  EventRecord* record = nullptr;
  bool follows_complete = false;
  {
    SpinLock lock(latest_lock_);
    EventRecord* latest = latest_;
    if (latest != nullptr) follows_complete = latest->complete() || latest->follows_complete_;
    if (latest != nullptr && latest->references_.load(std::memory_order_acquire) == 1 && latest->complete()) {
      latest->state_.store(EventRecord::kPending, std::memory_order_relaxed);
      latest->AddReference();
      record = latest;
    }
  }
  if (record == nullptr) record = new EventRecord(this);
  record->follows_complete_ = follows_complete;
  record->failed_.store(false, std::memory_order_relaxed);
  record->id_ = record_id;
  if (record_id != IdPool::kNone) {
    record->id_holders_.store(1, std::memory_order_relaxed);
    id.store(record_id, std::memory_order_relaxed);
  }
  return record;
}

EventRecord* Event::Latest() {
  SpinLock lock(latest_lock_);
  if (latest_ != nullptr) latest_->AddReference();
  return latest_;
}

void Event::SetLatest(EventRecord* record) {
  EventRecord* before;
  {
    SpinLock lock(latest_lock_);
    before = std::exchange(latest_, record);
  }
  if (before != nullptr) before->Drop();
}

}  // namespace belay::engine
