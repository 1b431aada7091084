// The unit of latencies: an uncontended pthread mutex lock+unlock.
#pragma once

#include <pthread.h>
#include <semaphore.h>

namespace bench {

// With one thread glibc elides the atomic part of a mutex; the primitive must be what a threaded program
// pays.
inline void KeepASecondThread() {
  static pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        sem_t never;
        sem_init(&never, 0, 0);
        for (;;) sem_wait(&never);
      },
      nullptr);
}

// kBatch pairs a call, so that the clock costs nothing.
class MutexPairs {
 public:
  static constexpr int kBatch = 100;

  void operator()() {
    for (int i = 0; i < kBatch; ++i) pthread_mutex_lock(&mutex_), pthread_mutex_unlock(&mutex_);
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace bench
