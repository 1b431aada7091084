// Small numbers of which a device has a limited count: given out, taken back, given out again.
//
// Guarantees: no number is out twice; the lowest free one goes out. Threading: any thread. Cost: one
// uncontended lock pair.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/thread_annotations.h"

namespace belay {

class IdPool {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  explicit IdPool(uint32_t limit) : limit_(limit) {}
  IdPool(const IdPool&) = delete;
  IdPool& operator=(const IdPool&) = delete;

  // kNone when all are out.
  uint32_t Take() BELAY_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (held_.load(std::memory_order_relaxed) == limit_) return kNone;
    held_.fetch_add(1, std::memory_order_relaxed);
    if (!free_.empty()) {
      std::pop_heap(free_.begin(), free_.end(), std::greater<>());
      uint32_t id = free_.back();
      free_.pop_back();
      return id;
    }
    return next_++;
  }
  void Return(uint32_t id) BELAY_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    held_.fetch_sub(1, std::memory_order_relaxed);
    free_.push_back(id);
    std::push_heap(free_.begin(), free_.end(), std::greater<>());
  }
  uint32_t held() const { return held_.load(std::memory_order_relaxed); }
  bool full() const { return held() >= limit_; }
  uint32_t limit() const { return limit_; }

 private:
  const uint32_t limit_;
  std::atomic<uint32_t> held_{0};  // changed under the lock
  Mutex mutex_;
  std::vector<uint32_t> free_ BELAY_GUARDED_BY(mutex_);  // a heap, the lowest on top
  uint32_t next_ BELAY_GUARDED_BY(mutex_) = 0;           // numbers from here on were never out
};

}  // namespace belay
