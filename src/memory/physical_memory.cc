#include "memory/physical_memory.h"

#include "memory/slab_heap.h"

namespace belay::memory {

PhysicalMemory::PhysicalMemory(uint64_t budget_bytes) : budget_chunks_(budget_bytes >> kChunkShift) {}

void PhysicalMemory::AddSource(Source* source) {
  MutexLock lock(mutex_);
  sources_.push_back(source);
}

void PhysicalMemory::Reclaim() {
  MutexLock lock(mutex_);
  for (Source* source : sources_) source->GiveIdleChunksBack();
}

uint64_t PhysicalMemory::budget_bytes() const {
  return budget_chunks_ << kChunkShift;
}
uint64_t PhysicalMemory::used_bytes() const {
  return used_chunks_.load(std::memory_order_relaxed) << kChunkShift;
}

}  // namespace belay::memory
