#include "engine/timer.h"

#include "engine/engine.h"
#include "os/futex.h"
#include "os/thread.h"

namespace belay::engine {

Timer::~Timer() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    if (!started_) return;
  }
  changed_.fetch_add(1, std::memory_order_seq_cst);
  os::FutexWakeAll(changed_);
  pthread_join(thread_, nullptr);
}

void Timer::Set(int64_t at_ns, Stream& stream, uint64_t sequence) {
  {
    MutexLock lock(mutex_);
    if (!started_) started_ = os::StartThread("belay-timer", &Timer::Run, this, &thread_);
    alarms_.push({at_ns, &stream, sequence});
  }
  changed_.fetch_add(1, std::memory_order_seq_cst);
  os::FutexWakeAll(changed_);
}

void Timer::Run(void* self) {
  Timer& timer = *static_cast<Timer*>(self);
  for (;;) {
    uint32_t seen = timer.changed_.load(std::memory_order_seq_cst);
    int64_t sleep_ns = os::kForever;
    Alarm due{};
    {
      MutexLock lock(timer.mutex_);
      if (timer.stop_) return;
      if (!timer.alarms_.empty()) {
        int64_t left = timer.alarms_.top().at_ns - os::MonotonicNs();
        if (left <= 0) {
          due = timer.alarms_.top();
          timer.alarms_.pop();
        } else {
          sleep_ns = left;
        }
      }
    }
    if (due.stream != nullptr) {
      timer.engine_.Expire(*due.stream, due.sequence);
    } else {
      os::FutexWait(timer.changed_, seen, sleep_ns);
    }
  }
}

}  // namespace belay::engine
