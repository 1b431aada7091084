// The things that handles name, and the devices that own them.
//
//   process -> Device -> Context (primary or explicit) -> StreamObject
//                     -> EventObject, device memory
//
// Threading: members are written under Runtime's object lock and stay as they are while the handle is live,
// but for the lists. Lifetime: the storage is never freed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "base/id_pool.h"
#include "base/site.h"
#include "engine/failure.h"

namespace belay::engine {
class Event;
class Signal;
class Stream;
}  // namespace belay::engine

namespace belay::runtime {

struct Device;

// A moment in the program, for messages.
struct Moment {
  const char* api = nullptr;
  uint32_t thread = 0;
  Site site;
};

// The latest moment of its kind, for messages: written by any thread without a lock, so of two at once it may
// show a bit of each.
class LastMoment {
 public:
  void Set(const Moment& moment) {
    api_.store(moment.api, std::memory_order_relaxed);
    thread_.store(moment.thread, std::memory_order_relaxed);
    site_.store(moment.site.value, std::memory_order_relaxed);
  }
  Moment Get() const {
    return {api_.load(std::memory_order_relaxed), thread_.load(std::memory_order_relaxed),
            Site{site_.load(std::memory_order_relaxed)}};
  }

 private:
  std::atomic<const char*> api_{nullptr};
  std::atomic<uint32_t> thread_{0};
  std::atomic<uint64_t> site_{0};
};

struct StreamObject {
  void* handle = nullptr;
  engine::Stream* stream = nullptr;
  struct Context* context = nullptr;
  Device* device = nullptr;
  int32_t id = -1;
  std::atomic<uint32_t> priority{0};
  uint32_t flags = 0;
  bool is_default = false;
  // Attributes (SPEC 20 §3.2); written by the call that sets them, read by any.
  std::atomic<int32_t> failure_mode{-1};  // -1: never set
  std::atomic<uint32_t> overflow_switch{0}, custom_tag{0}, cache_op_info{0};
  std::atomic<uint64_t> last_host_function{0};  // engine's number of that task (SPEC 21 §3)
  std::atomic<bool> stopped{false};             // by aclrtStreamStop
  Moment created, destroyed;
};

struct EventObject {
  void* handle = nullptr;
  engine::Event* event = nullptr;
  std::atomic<bool> recorded{false};  // since it was created or reset last, in the order of calls
  Device* device = nullptr;
  bool leak_told = false;  // lock of its table
  Moment created, destroyed;
  LastMoment last_record;
};

// A notify or a count notify: a signal with a number.
struct NotifyObject {
  void* handle = nullptr;
  engine::Signal* signal = nullptr;
  Device* device = nullptr;
  uint32_t id = 0;
  bool leak_told = false;  // lock of its table
  Moment created, destroyed;
  LastMoment last_record;
  std::atomic<int64_t> waits_ahead{
      0};  // waits less records that were submitted; a set bit may have its taker queued
};

struct Context {
  void* handle = nullptr;
  Device* device = nullptr;
  bool is_primary = false;
  std::atomic<uint32_t> life{0};  // odd while alive; a thread's binding remembers the number
  StreamObject* default_stream = nullptr;
  std::vector<StreamObject*> streams;  // the default one included; object lock
  engine::Domain domain;
  Moment created, destroyed;
};

struct Device {
  int user = -1;     // the id that the program uses
  int logical = -1;  // the index into books, memory and topology
  uint64_t set_count = 0;
  Context* primary = nullptr;
  std::vector<Context*> contexts;  // the primary one included; object lock
  std::set<int32_t> free_stream_ids;
  int32_t next_stream_id = 0;
  std::unique_ptr<IdPool> event_ids, notify_ids;  // SPEC 20 §2.1
  int64_t opened_ns = 0;                          // when its clock started
  // Why calls meet more than their own result; 0 = nothing (SPEC 21 §§6.3, 7).
  std::atomic<int32_t> fatal{0};      // the code that broke it
  std::atomic<bool> aborting{false};  // aclrtDeviceTaskAbort is running
  std::atomic<bool> aborted{false};   // ... and was called since it broke
  engine::Failure fault;              // what broke it; object lock
  Moment opened, released;

  bool open() const { return !contexts.empty(); }
};

}  // namespace belay::runtime
