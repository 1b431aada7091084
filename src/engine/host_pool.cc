#include "engine/host_pool.h"

#include <exception>

#include "engine/callback_scope.h"
#include "engine/engine.h"
#include "os/futex.h"
#include "os/thread.h"

namespace belay::engine {
namespace {
constexpr int64_t kIdleNs = 1'000'000'000;
}

constinit thread_local CallbackScope* CallbackScope::current_ = nullptr;

HostPool::~HostPool() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.fetch_add(1, std::memory_order_seq_cst);
  os::FutexWakeAll(wake_);
  for (;;) {
    uint32_t seen = ended_.load(std::memory_order_seq_cst);
    if (threads() == 0) return;
    os::FutexWait(ended_, seen);
  }
}

bool HostPool::Add(Stream& stream, const Op& op) {
  {
    MutexLock lock(mutex_);
    if (jobs_.size() >= static_cast<size_t>(idle_)) {
      pthread_t thread;
      if (os::StartThread("belay-host", &HostPool::Run, this, &thread)) {
        pthread_detach(thread);
        ++threads_;
        ++idle_;
      } else if (threads_ == 0) {
        return false;
      }
    }
    jobs_.push_back({&stream, op});
  }
  wake_.fetch_add(1, std::memory_order_seq_cst);
  os::FutexWakeOne(wake_);
  return true;
}

void HostPool::Run(void* pool) {
  static_cast<HostPool*>(pool)->RunThread();
}

void HostPool::RunThread() {
  int64_t idle_since = os::MonotonicNs();
  for (;;) {
    uint32_t seen = wake_.load(std::memory_order_seq_cst);
    Job job;
    bool found = false;
    {
      MutexLock lock(mutex_);
      if (!jobs_.empty()) {
        job = jobs_.front();
        jobs_.pop_front();
        --idle_;
        found = true;
      } else if (stop_ || os::MonotonicNs() - idle_since >= kIdleNs) {
        --idle_;
        --threads_;
        // Under the lock: the destructor may free the pool as soon as it sees the count.
        ended_.fetch_add(1, std::memory_order_seq_cst);
        os::FutexWakeAll(ended_);
        return;
      }
    }
    if (!found) {
      os::FutexWait(wake_, seen, kIdleNs);
      continue;
    }
    {
      CallbackScope scope(CallbackScope::Kind::kHostFunction, job.stream, job.op.api, job.op.thread,
                          job.op.site);
      if (engine_.watched()) engine_.observer().Started(*job.stream, job.op);
      try {
        job.op.host.function(job.op.host.argument);
      } catch (const std::exception& error) {
        engine_.observer().HostFunctionThrew(*job.stream, job.op, error.what());
      } catch (...) {
        engine_.observer().HostFunctionThrew(*job.stream, job.op, nullptr);
      }
      engine_.observer().HostFunctionReturned();
    }
    {
      MutexLock lock(mutex_);
      ++idle_;
    }
    if (engine_.guard() != nullptr) engine_.guard()->TakeBack(job.stream);
    engine_.FinishAway(*job.stream, Status());
    idle_since = os::MonotonicNs();
  }
}

}  // namespace belay::engine
