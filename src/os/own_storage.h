// Storage for what signal handlers read: it comes straight from the system, so that neither the heap's lock
// nor a page that the guard closed ever stands in its way.
//
// Guarantees: what was taken is never given back to the system, so a late reader finds something. Threading:
// the owner locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "os/mapping.h"

namespace belay::os {

// Objects of one type; a returned one is taken again.
template <class T>
class OwnPool {
 public:
  // Null when the system has no memory.
  T* Take() {
    if (free_ == nullptr && !Grow()) return nullptr;
    Slot* slot = free_;
    free_ = slot->next;
    return new (slot) T();
  }
  void Return(T* object) {
    object->~T();
    free_ = new (static_cast<void*>(object)) Slot{free_};
  }

 private:
  struct Slot {
    Slot* next;
  };
  static constexpr size_t kBytes = 64 << 10;
  static_assert(sizeof(T) >= sizeof(Slot) && sizeof(T) <= kBytes && alignof(T) <= 64);

  bool Grow() {
    uintptr_t chunk = Reserve(0, kBytes, Access::kReadWrite);
    if (chunk == 0) return false;
    for (size_t at = kBytes / sizeof(T); at-- > 0;) {
      free_ = new (reinterpret_cast<void*>(chunk + at * sizeof(T))) Slot{free_};
    }
    return true;
  }

  Slot* free_ = nullptr;
};

// From keys, not 0, to values that start as zero bytes. Keys are never removed.
template <class Value>
class OwnMap {
 public:
  Value* Find(uintptr_t key) const {
    if (slots_ == nullptr) return nullptr;
    for (size_t i = Hash(key);; ++i) {
      Slot& slot = slots_[i & (capacity_ - 1)];
      if (slot.key == key) return &slot.value;
      if (slot.key == 0) return nullptr;
    }
  }
  // Made now if need be; null when the system has no memory. Moves the others.
  Value* At(uintptr_t key) {
    if (Value* found = Find(key); found != nullptr) return found;
    if (2 * (count_ + 1) > capacity_ && !Grow()) return nullptr;
    ++count_;
    Slot& slot = FreeSlot(key);
    slot.key = key;
    return &slot.value;
  }
  template <class Visitor>
  void ForEach(Visitor&& visit) {
    for (size_t i = 0; i < capacity_; ++i) {
      if (slots_[i].key != 0) visit(slots_[i].key, slots_[i].value);
    }
  }

 private:
  struct Slot {
    uintptr_t key;
    Value value;
  };
  static size_t Hash(uintptr_t key) { return static_cast<size_t>((key * 0x9E3779B97F4A7C15u) >> 24); }

  Slot& FreeSlot(uintptr_t key) {
    size_t i = Hash(key);
    while (slots_[i & (capacity_ - 1)].key != 0) ++i;
    return slots_[i & (capacity_ - 1)];
  }
  bool Grow() {
    size_t capacity = capacity_ == 0 ? 128 : 2 * capacity_;
    uintptr_t fresh = Reserve(0, capacity * sizeof(Slot), Access::kReadWrite);
    if (fresh == 0) return false;
    Slot* old = slots_;
    size_t old_capacity = capacity_;
    slots_ = reinterpret_cast<Slot*>(fresh);
    capacity_ = capacity;
    for (size_t i = 0; i < old_capacity; ++i) {
      if (old[i].key != 0) FreeSlot(old[i].key) = old[i];
    }
    if (old != nullptr) Release(reinterpret_cast<uintptr_t>(old), old_capacity * sizeof(Slot));
    return true;
  }

  Slot* slots_ = nullptr;
  size_t capacity_ = 0;  // a power of two
  size_t count_ = 0;
};

}  // namespace belay::os
