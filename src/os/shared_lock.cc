#include "os/shared_lock.h"

#include "os/futex.h"

namespace belay::os {
namespace {
constexpr int kSpins = 100;
}

// Returns when the state may be another one.
void SharedLock::Sleep(uint32_t seen) {
  if ((seen & kWaiting) == 0 &&
      !state_.compare_exchange_strong(seen, seen | kWaiting, std::memory_order_relaxed)) {
    return;
  }
  FutexWait(state_, seen | kWaiting);
}

void SharedLock::lock() {
  for (int spin = 0;; ++spin) {
    uint32_t seen = state_.load(std::memory_order_relaxed);
    if ((seen & ~kWaiting) == 0) {
      // The bit stays: a reader may have gone to sleep after this writer was woken.
      if (state_.compare_exchange_weak(seen, seen | kWriter, std::memory_order_acquire)) return;
    } else if (spin < kSpins) {
      Pause();
    } else {
      Sleep(seen);
    }
  }
}

void SharedLock::unlock() {
  if ((state_.exchange(0, std::memory_order_release) & kWaiting) != 0) FutexWakeAll(state_);
}

void SharedLock::lock_shared() {
  for (int spin = 0;; ++spin) {
    uint32_t seen = state_.load(std::memory_order_relaxed);
    if ((seen & (kWriter | kWaiting)) == 0) {
      if (state_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire)) return;
    } else if (spin < kSpins) {
      Pause();
    } else {
      Sleep(seen);
    }
  }
}

void SharedLock::unlock_shared() {
  uint32_t before = state_.fetch_sub(1, std::memory_order_release);
  if (before == (kWaiting | 1)) FutexWakeAll(state_);
}

}  // namespace belay::os
