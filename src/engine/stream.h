// A serial queue of tasks. At most one thread at a time runs it: the one that claimed it.
//
//   idle --Submit--> claimed by the submitter (small work)  --> idle
//   idle --Submit--> queued --worker or waiting thread claims--> running --> idle
//   running --meets a wait that may not pass--> parked --the awaited thing happens--> queued
//   running --meets user code--> away --the function returned--> queued
//   held: what is queued stays queued
//
// Guarantees: tasks run in order of submission. The storage of a destroyed stream is reused for streams only,
// so a late reader meets a stream, never garbage. Threading: `submitted` and `done` may be read by anyone;
// the rest is guarded by the stream's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/site.h"
#include "base/thread_annotations.h"
#include "engine/failure.h"
#include "engine/op_queue.h"

namespace belay::engine {

class alignas(64) Stream {
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
  // Of a task of its present life.
  uint64_t SequenceOf(const Op& op) const { return earlier_ + op.task + 1; }
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  // How often its tasks were dropped by an abort.
  uint32_t aborts() const { return aborts_.load(std::memory_order_acquire); }
  // What those who waited for a task that the latest abort dropped return.
  int32_t abort_code() const { return abort_code_.load(std::memory_order_acquire); }
  // Tasks are kept, and run only as part of a model (SPEC 20 §3.1).
  bool persistent() const { return persistent_; }

  // Calls on it meet more than their own result: its domain is stopped, or an abort is running.
  bool troubled() const { return trouble_.load(std::memory_order_relaxed) != 0; }

 private:
  friend class Engine;
  friend class Pool;

  // Why nobody may run it now.
  enum class Parked : uint8_t {
    kNo,
    kRecord,  // its front waits for an event record
    kSignal,  // ... for a signal
    kWord,    // ... for a word of device memory
    kAway,    // its front is running elsewhere: user code, or a failure being told
  };

  bool Runnable() const BELAY_REQUIRES(mutex_) {
    return !claimed_ && parked_ == Parked::kNo && !Stays() && !queue_.empty();
  }
  bool Stays() const BELAY_REQUIRES(mutex_) { return held_ != 0 || persistent_ || frozen(); }
  // Nothing is queued or running, and the next task may take effect as any other.
  bool Plain() const BELAY_REQUIRES(mutex_) {
    return done_.load(std::memory_order_relaxed) == submitted_.load(std::memory_order_relaxed) && !claimed_ &&
           held_ == 0 && !persistent_ && fail_next_ == 0 && !troubled();
  }
  // The queued tasks that nobody runs: what a running one holds may be gone before it leaves the queue.
  template <class Visitor>
  void ForEachQueued(Visitor&& visit) const BELAY_REQUIRES(mutex_) {
    bool skip = (claimed_ && !inline_) || parked_ == Parked::kAway;
    queue_.ForEach([&](const Op& op) {
      if (!std::exchange(skip, false)) visit(op);
    });
  }
  bool frozen() const { return (trouble_.load(std::memory_order_relaxed) & kFrozen) != 0; }
  bool stopped() const { return (trouble_.load(std::memory_order_relaxed) & kStopped) != 0; }
  static constexpr uint8_t kStopped = 1, kFrozen = 2;

  // What a small task on an idle stream touches, in one cache line.
  Mutex mutex_;
  // Tasks ever, also of earlier lives: whoever still waits for a destroyed stream's task sees that it is
  // done.
  std::atomic<uint64_t> submitted_{0};  // changed under the lock
  std::atomic<uint64_t> done_{0};
  std::atomic<uint8_t> trouble_{0};  // bits; changed under the lock
  std::atomic<bool> failed_{false};
  bool persistent_ = false;  // written before the stream is handed out
  bool claimed_ BELAY_GUARDED_BY(mutex_) = false;
  uint8_t held_ BELAY_GUARDED_BY(mutex_) = 0;  // bits of Engine::Holder
  Parked parked_ BELAY_GUARDED_BY(mutex_) = Parked::kNo;
  bool ready_ BELAY_GUARDED_BY(mutex_) = false;   // handed to whoever runs it next, not claimed yet
  bool inline_ BELAY_GUARDED_BY(mutex_) = false;  // the claimed task is not in the queue

  int32_t fail_next_ BELAY_GUARDED_BY(mutex_) = 0;    // the next submission fails with this code
  uint8_t freezers_ BELAY_GUARDED_BY(mutex_) = 0;     // aborts in progress
  bool granted_ BELAY_GUARDED_BY(mutex_) = false;     // the front's wait may pass
  bool drop_front_ BELAY_GUARDED_BY(mutex_) = false;  // its tasks were dropped while the front was running
  uint64_t earlier_ = 0;  // tasks of earlier lives; written before the stream is handed out
  OpQueue queue_ BELAY_GUARDED_BY(mutex_);
  uint64_t dropped_ BELAY_GUARDED_BY(mutex_) = 0;  // so many right behind the running one

 public:
  int device = -1;                // logical
  int32_t id = -1;                // aclrtStreamGetId
  Domain* domain = nullptr;       // null: a domain of its own, in mode CONTINUE
  std::atomic<uint32_t> life{0};  // grows each time the stream is destroyed

 private:
  // Valid while parked: the queued wait holds them.
  EventRecord* parked_record_ BELAY_GUARDED_BY(mutex_) = nullptr;
  Signal* parked_signal_ BELAY_GUARDED_BY(mutex_) = nullptr;
  // Host threads asleep on progress_, and the lowest task that one of them waits for; 0: for any change.
  uint32_t sleepers_ BELAY_GUARDED_BY(mutex_) = 0;
  uint64_t awaited_ BELAY_GUARDED_BY(mutex_) = ~uint64_t{0};
  std::atomic<uint32_t> progress_{0};  // changes when a sleeper should look again
  // Tasks up to here must not wait until a host thread wants them (Policy::Delivery::kWaiter).
  uint64_t urgent_ BELAY_GUARDED_BY(mutex_) = 0;
  Failure failure_ BELAY_GUARDED_BY(mutex_);               // the first one that nobody reported yet
  uint64_t failed_sequence_ BELAY_GUARDED_BY(mutex_) = 0;  // of failure_, counted as submitted_ is
  std::atomic<uint32_t> aborts_{0};
  std::atomic<int32_t> abort_code_{0};

  Stream* next_waiter_ = nullptr;  // in the list of what it is parked on; engine's edge lock
  Stream* next_ready_ = nullptr;   // in the pool's list; pool lock
  Stream* prev_ready_ = nullptr;
  bool posted_ = false;    // pool lock
  size_t live_index_ = 0;  // in Engine::live_; its lock
};

}  // namespace belay::engine
