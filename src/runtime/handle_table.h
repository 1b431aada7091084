// Opaque handles: numbers, never addresses, so that a stale, foreign or garbage one is told apart and never
// followed.
//
//   | tag : 8 | generation : 32 | slot : 24 |      tag != 0 tells the kind; odd generations are live
//
// Guarantees: a value is given out once in the life of the process; the objects live in the slots and are
// never freed, so a removed one keeps its story until the slot is used again, oldest slot first. Threading:
// Find is lock-free; Add and Remove lock. Cost of Find: three loads.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "base/check.h"
#include "base/thread_annotations.h"

namespace belay::runtime {

template <class T, uint8_t kTag>
class HandleTable {
 public:
  HandleTable() = default;
  ~HandleTable() {
    for (std::atomic<Slot*>& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  // A free object; the handle is its value from now on. Null when 16 million are live.
  T* Add(void** handle) BELAY_EXCLUDES(mutex_) {
    return Add(handle, [](T&) {});
  }
  // The same, and `fill(T&)` has made it ready, with *handle known, before anybody can find it.
  template <class Fill>
  T* Add(void** handle, Fill&& fill) BELAY_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    uint32_t index;
    // Resting slots keep the story of dead objects readable for a while.
    if (free_.size() > kRest || (next_ == kSlots && !free_.empty())) {
      index = free_.front();
      free_.pop_front();
    } else if (next_ < kSlots) {
      index = next_++;
      if (chunks_[index / kPerChunk].load(std::memory_order_relaxed) == nullptr) {
        chunks_[index / kPerChunk].store(new Slot[kPerChunk], std::memory_order_release);
      }
    } else {
      return nullptr;
    }
    Slot& slot = At(index);
    uint32_t generation = slot.generation.load(std::memory_order_relaxed) + 1;
    *handle = Encode(index, generation);
    fill(slot.object);
    slot.generation.store(generation, std::memory_order_release);
    return &slot.object;
  }

  // Calls visit(T&) for every live object, under the lock.
  template <class Visitor>
  void ForEachLive(Visitor&& visit) BELAY_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    for (uint32_t index = 0; index < next_; ++index) {
      Slot& slot = At(index);
      if ((slot.generation.load(std::memory_order_relaxed) & 1) != 0) visit(slot.object);
    }
  }

  T* Find(const void* handle) const {
    Slot* slot = SlotOf(handle);
    if (slot == nullptr || slot->generation.load(std::memory_order_acquire) != Generation(handle))
      return nullptr;
    return (Generation(handle) & 1) != 0 ? &slot->object : nullptr;
  }

  // The object that a dead handle named, while its slot was not used again.
  const T* FindDead(const void* handle) const {
    Slot* slot = SlotOf(handle);
    if (slot == nullptr || (Generation(handle) & 1) == 0) return nullptr;
    return slot->generation.load(std::memory_order_acquire) == Generation(handle) + 1 ? &slot->object
                                                                                      : nullptr;
  }

  void Remove(const void* handle) BELAY_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    Slot* slot = SlotOf(handle);
    BELAY_CHECK(slot != nullptr && slot->generation.load(std::memory_order_relaxed) == Generation(handle));
    uint32_t generation = Generation(handle) + 1;
    slot->generation.store(generation, std::memory_order_release);
    // A slot whose generations are used up is retired: its values would come again.
    if (generation < kLastGeneration) free_.push_back(static_cast<uint32_t>(Value(handle) & kSlotMask));
  }

 private:
  static constexpr uint32_t kSlots = 1u << 24, kSlotMask = kSlots - 1, kPerChunk = 1024, kRest = 256;
  static constexpr uint32_t kLastGeneration = ~uint32_t{0} - 2;

  struct Slot {
    std::atomic<uint32_t> generation{0};
    T object;
  };

  static uint64_t Value(const void* handle) { return reinterpret_cast<uint64_t>(handle); }
  static uint32_t Generation(const void* handle) { return static_cast<uint32_t>(Value(handle) >> 24); }
  static void* Encode(uint32_t index, uint32_t generation) {
    return reinterpret_cast<void*>(uint64_t{kTag} << 56 | uint64_t{generation} << 24 | index);
  }
  Slot& At(uint32_t index) const {
    return chunks_[index / kPerChunk].load(std::memory_order_acquire)[index % kPerChunk];
  }
  Slot* SlotOf(const void* handle) const {
    if (Value(handle) >> 56 != kTag) return nullptr;
    uint32_t index = static_cast<uint32_t>(Value(handle) & kSlotMask);
    return chunks_[index / kPerChunk].load(std::memory_order_acquire) != nullptr ? &At(index) : nullptr;
  }

  std::atomic<Slot*> chunks_[kSlots / kPerChunk] = {};
  Mutex mutex_;
  std::deque<uint32_t> free_ BELAY_GUARDED_BY(mutex_);
  uint32_t next_ BELAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace belay::runtime
