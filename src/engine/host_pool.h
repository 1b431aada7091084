// Threads that run host functions (SPEC 21 §3): functions of different streams may wait for each other, so
// there is always one more thread than functions that are inside user code.
//
// Guarantees: functions of one stream run in order, because a stream hands over one at a time. A thread that
// had nothing to do for a second ends. Threading: any thread adds.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "base/thread_annotations.h"
#include "engine/op.h"

namespace belay::engine {

class Engine;
class Stream;

class HostPool {
 public:
  explicit HostPool(Engine& engine) : engine_(engine) {}
  ~HostPool();
  HostPool(const HostPool&) = delete;
  HostPool& operator=(const HostPool&) = delete;

  // False when the system gives no thread: nothing was queued.
  [[nodiscard]] bool Add(Stream& stream, const Op& op) BELAY_EXCLUDES(mutex_);
  int threads() const BELAY_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return threads_;
  }

 private:
  struct Job {
    Stream* stream;
    Op op;
  };

  static void Run(void* pool);
  void RunThread();

  Engine& engine_;
  mutable Mutex mutex_;
  std::deque<Job> jobs_ BELAY_GUARDED_BY(mutex_);
  int threads_ BELAY_GUARDED_BY(mutex_) = 0;
  int idle_ BELAY_GUARDED_BY(mutex_) = 0;
  bool stop_ BELAY_GUARDED_BY(mutex_) = false;
  std::atomic<uint32_t> wake_{0};
  std::atomic<uint32_t> ended_{0};  // what the destructor sleeps on
};

}  // namespace belay::engine
