// Wakes waits whose time is up: one thread, started with the first of them.
//
// Guarantees: an alarm rings once, not before its time. Threading: any thread sets alarms; they ring on the
// timer's thread.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <queue>
#include <vector>

#include "base/thread_annotations.h"

namespace belay::engine {

class Engine;
class Stream;

class Timer {
 public:
  explicit Timer(Engine& engine) : engine_(engine) {}
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Rings Engine::Expire(stream, sequence) at the monotonic time. A stream's storage is never given back, so
  // an alarm for a task that is done by then does no harm.
  void Set(int64_t at_ns, Stream& stream, uint64_t sequence) BELAY_EXCLUDES(mutex_);

 private:
  struct Alarm {
    int64_t at_ns;
    Stream* stream;
    uint64_t sequence;
    bool operator<(const Alarm& other) const { return at_ns > other.at_ns; }
  };

  static void Run(void* timer);

  Engine& engine_;
  Mutex mutex_;
  std::priority_queue<Alarm> alarms_ BELAY_GUARDED_BY(mutex_);  // the earliest on top
  bool started_ BELAY_GUARDED_BY(mutex_) = false;
  bool stop_ BELAY_GUARDED_BY(mutex_) = false;
  pthread_t thread_{};
  std::atomic<uint32_t> changed_{0};  // what the thread sleeps on
};

}  // namespace belay::engine
