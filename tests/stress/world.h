#pragma once
// What the threads of a round share: two devices, three contexts (one of them stops on failure), and a table
// of streams, events and notifies on each.
//
// Threading: a slot's object may be used under its shared lock and replaced under its exclusive one.

#include <acl/acl.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include "journal.h"

namespace stress {

constexpr int kDevices = 2;
constexpr size_t kContexts = 3, kStreams = 4, kEvents = 6, kNotifies = 3, kWords = 4;
constexpr size_t kBytes = size_t{1} << 20;

// Ends the process: something did not hold.
[[noreturn]] void Fail(const std::string& what);

template <class Handle>
struct Slot {
  std::shared_mutex lock;
  Handle handle = nullptr;
};
struct StreamSlot : Slot<aclrtStream> {
  bool subscribed = false;
};
// Plain, Ex, and flag events in turn.
struct EventSlot : Slot<aclrtEvent> {
  int kind = 0;
};

struct Context {
  aclrtContext handle = nullptr;
  int32_t device = 0;
  bool stops = false;
  std::array<StreamSlot, kStreams> streams;
};

// The thread that runs the callbacks of one device.
class CallbackThread {
 public:
  CallbackThread();
  ~CallbackThread();
  uint64_t id() { return static_cast<uint64_t>(thread_.native_handle()); }

 private:
  std::atomic<bool> ends_{false}, polled_{false};
  std::thread thread_;
};

struct Device {
  std::array<EventSlot, kEvents> events;
  std::array<Slot<aclrtNotify>, kNotifies> notifies;
  uint8_t* block = nullptr;   // kBytes
  uint64_t* words = nullptr;  // kWords
  uint8_t* pinned = nullptr;  // kBytes
  std::unique_ptr<CallbackThread> callbacks;
};

struct Books {
  uint32_t streams = 0, events = 0;
  size_t memory = 0;
  friend bool operator==(const Books&, const Books&) = default;
};

struct World {
  std::array<Context, kContexts> contexts;
  std::array<Device, kDevices> devices;
  std::atomic<bool> broken{false};  // device 1 has failed for good
  std::atomic<uint64_t> bodies{0};  // host functions and callbacks that ran

  // Everything that a round uses; the current context of the caller changes.
  void Build(Journal& journal);
  // Takes it all back, whatever is pending; `way` chooses how. What a broken device has stays until its
  // reset.
  void TakeDown(Journal& journal, uint64_t way);
  // After TakeDown: no device is selected any more.
  void Reset(Journal& journal, bool force);
  // With the device selected and nothing else.
  Books Read(Journal& journal, int32_t device);

  void CreateStream(Journal& journal, Context& context, StreamSlot& slot);
  void CreateEvent(Journal& journal, EventSlot& slot);

 private:
  void Release(Journal& journal);
  void Empty(Journal& journal, uint64_t way);
};

}  // namespace stress
