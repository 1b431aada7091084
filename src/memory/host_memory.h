// Host memory that the runtime knows: pinned blocks of aclrtMallocHost, and ranges that the program
// registered.
//
// Pinned blocks lie in a region of their own, so a pointer shows by arithmetic that it is pinned. A
// registered range may get an alias: a device-side name in a no-access region. The host cannot dereference
// it, kernels reach the bytes through it.
//
// Threading: Find and IsPinned without registrations are lock-free; everything else takes a lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>

#include "base/site.h"
#include "base/thread_annotations.h"
#include "memory/address_space.h"
#include "memory/slab_heap.h"

namespace belay::memory {

class HostMemory {
 public:
  // `pin_limit`: most bytes pinned at once; 0 = no limit.
  HostMemory(const AddressSpace& space, bool rest_freed, uint64_t pin_limit);

  // Pinned blocks. Allocate returns null when the limit or the region is used up.
  Allocation* Allocate(uint64_t bytes, bool va_flag, Site site, uint32_t thread,
                       uint16_t function = Allocation::kNobody);
  SlabHeap::FreeResult Free(Allocation* allocation, Site site, uint32_t thread);
  Allocation* Find(uintptr_t address) const { return heap_.Find(address - base_); }
  uintptr_t Address(const Allocation& allocation) const { return base_ + allocation.offset; }
  void Unpin(Allocation* allocation) { heap_.Unpin(allocation); }
  uint64_t pinned_bytes() const { return pinned_bytes_.load(std::memory_order_relaxed); }
  template <class Visitor>
  void ForEachLive(Visitor&& visit) {
    heap_.ForEachLive(visit);
  }

  // Registered ranges. They never overlap.
  struct Registration {
    uintptr_t start = 0;
    uint64_t bytes = 0;
    uintptr_t alias = 0;  // device-side address of `start`; equals it with the VA flag; 0 = not mapped
    int device = -1;
    Site site;
    uint32_t thread = 0;
    uint16_t function = Allocation::kNobody;  // the API function, as its caller numbers them
    bool mapped = true;                       // it gets an alias
    bool pinned = true;                       // it counts as pinned (SPEC 31 §0.3)
    bool can_guard = true;  // its pages are ordinary ones, which the guard may close and open
  };
  enum class RegisterResult : uint8_t { kRegistered, kOverlaps, kNoAlias };
  // On success fills in the alias of a mapped range. On overlap fills `other` with the range in the way.
  RegisterResult Register(Registration* registration, bool alias_is_address, Registration* other);
  bool Unregister(uintptr_t start);
  // The registration around an address.
  bool FindRegistration(uintptr_t address, Registration* found) const;
  bool FindAlias(uintptr_t address, Registration* found) const;
  // Calls visit(const Registration&), under the lock.
  template <class Visitor>
  void ForEachRegistration(Visitor&& visit) const BELAY_EXCLUDES(mutex_) {
    if (registrations_.load(std::memory_order_acquire) == 0) return;
    MutexLock lock(mutex_);
    for (const auto& [start, registration] : by_start_) visit(registration);
  }
  // Drops the registrations of a device (SPEC 30 §4), or of all with -1.
  void UnregisterAll(int device);

  // Whether the whole range counts as pinned (SPEC 31 §0.3).
  bool IsPinned(uintptr_t address, uint64_t bytes) const;

 private:
  uintptr_t TakeAlias(uint64_t bytes) BELAY_REQUIRES(mutex_);

  const uintptr_t base_;
  const AddressSpace::Range alias_;
  const uint64_t pin_limit_;
  SlabHeap heap_;
  std::atomic<uint64_t> pinned_bytes_{0};
  std::atomic<uint32_t> registrations_{0};
  mutable Mutex mutex_;
  std::map<uintptr_t, Registration> by_start_ BELAY_GUARDED_BY(mutex_);
  std::map<uintptr_t, uintptr_t> by_alias_ BELAY_GUARDED_BY(mutex_);  // alias -> start
};

}  // namespace belay::memory
