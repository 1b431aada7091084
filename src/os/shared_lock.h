// Many readers or one writer, by a word and futexes: unlike std::shared_mutex it may be taken in a signal
// handler, as long as the interrupted thread does not hold it.
//
// Threading: any. A writer that waits keeps new readers out. Not recursive.
#pragma once

#include <atomic>
#include <cstdint>

namespace belay::os {

class SharedLock {
 public:
  void lock();
  void unlock();
  void lock_shared();
  void unlock_shared();
  // In a forked child whose parent held it for the fork.
  void Reset() { state_.store(0, std::memory_order_release); }

 private:
  static constexpr uint32_t kWriter = 1u << 31;
  static constexpr uint32_t kWaiting =
      1u << 30;  // somebody sleeps, or is about to; if there is no writer, a writer does

  void Sleep(uint32_t seen);

  std::atomic<uint32_t> state_{0};  // the rest counts readers
};

// Holds one exclusively.
class ExclusiveHold {
 public:
  explicit ExclusiveHold(SharedLock& lock) : lock_(lock) { lock_.lock(); }
  ~ExclusiveHold() { lock_.unlock(); }
  ExclusiveHold(const ExclusiveHold&) = delete;
  ExclusiveHold& operator=(const ExclusiveHold&) = delete;

 private:
  SharedLock& lock_;
};

}  // namespace belay::os
