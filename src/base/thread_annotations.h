// Clang's thread-safety attributes; nothing elsewhere.
#pragma once

#include <mutex>

#if defined(__clang__)
#define BELAY_TSA(x) __attribute__((x))
#else
#define BELAY_TSA(x)
#endif

#define BELAY_CAPABILITY(x) BELAY_TSA(capability(x))
#define BELAY_SCOPED_CAPABILITY BELAY_TSA(scoped_lockable)
#define BELAY_GUARDED_BY(x) BELAY_TSA(guarded_by(x))
#define BELAY_REQUIRES(...) BELAY_TSA(requires_capability(__VA_ARGS__))
#define BELAY_EXCLUDES(...) BELAY_TSA(locks_excluded(__VA_ARGS__))
#define BELAY_ACQUIRE(...) BELAY_TSA(acquire_capability(__VA_ARGS__))
#define BELAY_RELEASE(...) BELAY_TSA(release_capability(__VA_ARGS__))
#define BELAY_TRY_ACQUIRE(...) BELAY_TSA(try_acquire_capability(__VA_ARGS__))
#define BELAY_NO_THREAD_SAFETY_ANALYSIS BELAY_TSA(no_thread_safety_analysis)

namespace belay {

// std::mutex with the attributes that the analysis needs.
class BELAY_CAPABILITY("mutex") Mutex {
 public:
  void lock() BELAY_ACQUIRE() { mutex_.lock(); }
  void unlock() BELAY_RELEASE() { mutex_.unlock(); }
  bool try_lock() BELAY_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

class BELAY_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) BELAY_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() BELAY_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace belay
