#include "runtime/exception_thread.h"

#include <pthread.h>

#include <exception>

#include "engine/callback_scope.h"
#include "os/futex.h"
#include "os/thread.h"

namespace belay::runtime {

void ExceptionThread::Tell(const engine::Failure& failure, int user_device, void (*done)(void*),
                           void* argument) {
  bool here;
  {
    MutexLock lock(mutex_);
    if (!started_) {
      pthread_t thread;
      started_ = os::StartThread("belay-exception", &ExceptionThread::Run, this, &thread);
      if (started_) pthread_detach(thread);
    }
    // A failure inside the callback itself must not wait for it.
    const engine::CallbackScope* scope = engine::CallbackScope::Current();
    here = !started_ || (scope != nullptr && scope->kind == engine::CallbackScope::Kind::kException);
    if (!here) jobs_.push_back({failure, user_device, done, argument});
  }
  if (here) {
    done(argument);
    return;
  }
  wake_.fetch_add(1, std::memory_order_seq_cst);
  os::FutexWakeAll(wake_);
}

const ExceptionInfo* ExceptionThread::Find(const void* info) const {
  for (const ExceptionInfo& one : infos_) {
    if (&one == info) return one.valid.load(std::memory_order_acquire) ? &one : nullptr;
  }
  return nullptr;
}

void ExceptionThread::Run(void* raw) {
  ExceptionThread& self = *static_cast<ExceptionThread*>(raw);
  for (size_t next = 0;;) {
    uint32_t seen = self.wake_.load(std::memory_order_seq_cst);
    Job job;
    {
      MutexLock lock(self.mutex_);
      if (!self.jobs_.empty()) {
        job = self.jobs_.front();
        self.jobs_.pop_front();
      } else {
        job.done = nullptr;
      }
    }
    if (job.done == nullptr) {
      os::FutexWait(self.wake_, seen);
      continue;
    }
    if (Callback callback = self.callback_.load(std::memory_order_acquire); callback != nullptr) {
      ExceptionInfo& info = self.infos_[next++ % kInfos];
      const engine::Failure& failure = job.failure;
      info.task = static_cast<uint32_t>(failure.sequence - 1);
      info.stream = static_cast<uint32_t>(failure.stream);
      info.thread = failure.thread;
      info.device = static_cast<uint32_t>(job.user_device);
      info.code = static_cast<uint32_t>(failure.code);
      info.valid.store(true, std::memory_order_release);
      engine::CallbackScope scope(engine::CallbackScope::Kind::kException, failure.origin, failure.api,
                                  failure.thread, failure.site);
      try {
        callback(&info);
      } catch (const std::exception& error) {
        self.threw_(failure, error.what());
      } catch (...) {
        self.threw_(failure, nullptr);
      }
      info.valid.store(false, std::memory_order_release);
    }
    job.done(job.argument);
  }
}

}  // namespace belay::runtime
