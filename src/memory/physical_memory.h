// The host RAM that device bytes may take (option `host-memory`), counted in chunks of 2 MiB.
//
// A chunk is counted at the first write into it, because the kernel gives a whole huge page then. When the
// budget is used up, idle chunks of every device go back to the system; only then is a write refused: never
// SIGBUS, never an out-of-memory kill. Threading: Take and Return are lock-free; Reclaim locks the list of
// sources and then their heaps.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/thread_annotations.h"

namespace belay::memory {

class PhysicalMemory {
 public:
  // Something that can give idle chunks back.
  class Source {
   public:
    virtual void GiveIdleChunksBack() = 0;

   protected:
    ~Source() = default;
  };

  explicit PhysicalMemory(uint64_t budget_bytes);

  // False when the budget does not hold `chunks` more.
  bool Take(uint64_t chunks) {
    uint64_t used = used_chunks_.load(std::memory_order_relaxed);
    do {
      if (chunks > budget_chunks_ - used) return false;
    } while (!used_chunks_.compare_exchange_weak(used, used + chunks, std::memory_order_relaxed));
    return true;
  }
  void Return(uint64_t chunks) { used_chunks_.fetch_sub(chunks, std::memory_order_relaxed); }

  void AddSource(Source* source) BELAY_EXCLUDES(mutex_);
  void Reclaim() BELAY_EXCLUDES(mutex_);

  uint64_t budget_bytes() const;
  uint64_t used_bytes() const;

 private:
  const uint64_t budget_chunks_;
  std::atomic<uint64_t> used_chunks_{0};
  Mutex mutex_;
  std::vector<Source*> sources_ BELAY_GUARDED_BY(mutex_);
};

}  // namespace belay::memory
