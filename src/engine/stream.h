// A serial queue of tasks. At most one thread at a time runs it: the one that claimed it.
//
//   idle --Submit--> claimed by the submitter (small work)  --> idle
//   idle --Submit--> queued --worker or waiting thread claims--> running --> idle
//   running --meets a wait for a pending record--> blocked --the record completes--> queued
//
// Guarantees: tasks run in order of submission. The storage of a destroyed stream is reused for streams only,
// so a late reader meets a stream, never garbage. Threading: `submitted` and `done` may be read by anyone;
// the rest is guarded by the stream's lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/site.h"
#include "base/thread_annotations.h"
#include "engine/op_queue.h"

namespace belay::engine {

// The first failure that nobody reported yet (SPEC 21 §6.3, mode CONTINUE).
struct Failure {
  int32_t code = 0;
  uint64_t sequence = 0;  // of the failed task in its stream, from 1
  uint32_t thread = 0;    // that submitted it
  Site site;              // where
  const char* api = nullptr;
};

class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Complete only if everything that was submitted before the question is done.
  bool Idle() const {
    uint64_t submitted = submitted_.load(std::memory_order_acquire);
    return done_.load(std::memory_order_acquire) >= submitted;
  }
  uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
  uint64_t done() const { return done_.load(std::memory_order_acquire); }
  bool failed() const { return failed_.load(std::memory_order_acquire); }

  int device = -1;                // logical
  int32_t id = -1;                // aclrtStreamGetId
  std::atomic<uint32_t> life{0};  // grows each time the stream is destroyed

 private:
  friend class Engine;
  friend class Pool;

  Mutex mutex_;
  // Tasks ever, also of earlier lives: whoever still waits for a destroyed stream's task sees that it is
  // done.
  std::atomic<uint64_t> submitted_{0};  // changed under the lock
  std::atomic<uint64_t> done_{0};
  uint64_t earlier_ = 0;  // tasks of earlier lives; written before the stream is handed out
  std::atomic<bool> failed_{false};
  OpQueue queue_ BELAY_GUARDED_BY(mutex_);
  bool claimed_ BELAY_GUARDED_BY(mutex_) = false;
  bool ready_ BELAY_GUARDED_BY(mutex_) = false;  // handed to whoever runs it next, not claimed yet
  bool blocked_ BELAY_GUARDED_BY(mutex_) = false;
  EventRecord* blocked_on_ BELAY_GUARDED_BY(mutex_) =
      nullptr;                                      // valid while blocked: the queued wait holds it
  uint32_t sleepers_ BELAY_GUARDED_BY(mutex_) = 0;  // host threads asleep on progress_
  Failure failure_ BELAY_GUARDED_BY(mutex_);
  uint64_t failed_sequence_ BELAY_GUARDED_BY(mutex_) = 0;  // of failure_, counted as submitted_ is
  std::atomic<uint32_t> progress_{0};                      // changes when a sleeper should look again

  Stream* next_waiter_ = nullptr;  // in EventRecord::waiters_; engine's edge lock
  Stream* next_ready_ = nullptr;   // in the pool's list; pool lock
  Stream* prev_ready_ = nullptr;
  bool posted_ = false;  // pool lock
};

}  // namespace belay::engine
