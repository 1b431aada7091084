// Worker threads that run streams. A stream stands in the list once, however many tasks it has; a worker runs
// it until it is empty or blocked.
//
// Guarantees: threads start at the first post, sleep when there is nothing to do, and block every signal.
// Threading: any thread posts. Cost: a post wakes a worker only if one sleeps; workers spin about a
// microsecond first, because a wake costs the waker more than most tasks.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/thread_annotations.h"

namespace belay::engine {

class Engine;
class Stream;

class Pool {
 public:
  Pool(Engine& engine, int workers) : engine_(engine), workers_(workers) {}
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int workers() const { return workers_; }
  // Whether a stream waits for a worker.
  bool waiting() const { return waiting_.load(std::memory_order_relaxed) != 0; }
  // False when the system gives no thread at all: the caller then runs the stream.
  [[nodiscard]] bool Post(Stream& stream) BELAY_EXCLUDES(mutex_);
  // Takes a stream that is about to be destroyed out of the list.
  void Forget(Stream& stream) BELAY_EXCLUDES(mutex_);

 private:
  static void Run(void* pool);
  void RunWorker();
  Stream* Take() BELAY_EXCLUDES(mutex_);
  void Unlink(Stream& stream) BELAY_REQUIRES(mutex_);
  void Start() BELAY_REQUIRES(mutex_);

  Engine& engine_;
  const int workers_;
  Mutex mutex_;
  Stream* first_ BELAY_GUARDED_BY(mutex_) = nullptr;
  Stream* last_ BELAY_GUARDED_BY(mutex_) = nullptr;
  std::vector<pthread_t> threads_ BELAY_GUARDED_BY(mutex_);
  bool stop_ BELAY_GUARDED_BY(mutex_) = false;
  std::atomic<uint32_t> waiting_{0};  // streams in the list: what a spinning worker looks at
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> wake_{0};  // changes when a sleeper should look; woken by Post and the destructor
};

}  // namespace belay::engine
