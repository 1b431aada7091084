// Runs the exception callback of the program: one call at a time, on a thread of its own, before the failure
// that it tells of can be seen by anybody else (SPEC 21 §4).
//
// Guarantees: once a failure. Threading: everything from any thread; the thread starts with the first failure
// that somebody wants to be told of. Lifetime: as long as the runtime.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "base/thread_annotations.h"
#include "engine/failure.h"

namespace belay::runtime {

// What the program sees of a failed task, as opaque pointer; the values are the program's numbers.
struct ExceptionInfo {
  std::atomic<bool> valid{false};  // only while its callback runs
  uint32_t task = 0, stream = 0, thread = 0, device = 0, code = 0;

  static constexpr uint32_t kNone = 0xFFFFFFFF;
};

class ExceptionThread {
 public:
  using Callback = void (*)(void* info);

  // `threw` is told of callbacks that threw; `what` may be null.
  explicit ExceptionThread(std::function<void(const engine::Failure&, const char* what)> threw)
      : threw_(std::move(threw)) {}

  // Null removes it. The last one counts.
  void Set(Callback callback) { callback_.store(callback, std::memory_order_release); }
  bool wanted() const { return callback_.load(std::memory_order_acquire) != nullptr; }

  // `done` is called when the callback returned. `user_device` is the program's number.
  void Tell(const engine::Failure& failure, int user_device, void (*done)(void*), void* argument)
      BELAY_EXCLUDES(mutex_);

  // The infos come from a ring, so that a pointer kept too long is told apart, not followed.
  // Null for anything else.
  const ExceptionInfo* Find(const void* info) const;

 private:
  static constexpr size_t kInfos = 64;
  struct Job {
    engine::Failure failure;
    int user_device;
    void (*done)(void*);
    void* argument;
  };

  static void Run(void* self);

  const std::function<void(const engine::Failure&, const char*)> threw_;
  std::atomic<Callback> callback_{nullptr};
  ExceptionInfo infos_[kInfos];
  Mutex mutex_;
  std::deque<Job> jobs_ BELAY_GUARDED_BY(mutex_);
  bool started_ BELAY_GUARDED_BY(mutex_) = false;
  std::atomic<uint32_t> wake_{0};
};

}  // namespace belay::runtime
