#include "memory/host_memory.h"

#include "os/mapping.h"

namespace belay::memory {
namespace {
constexpr uint64_t kPage = 4096;
constexpr uint64_t RoundUp(uint64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}
// A freed block this large goes back to the system at once; smaller ones stay warm for the next one.
constexpr uint64_t kReturnAtOnce = uint64_t{64} << 20;
}  // namespace

HostMemory::HostMemory(const AddressSpace& space, bool rest_freed, uint64_t pin_limit)
    : base_(space.pinned().base),
      alias_(space.alias()),
      pin_limit_(pin_limit),
      heap_(space.pinned().bytes, rest_freed) {}

Allocation* HostMemory::Allocate(uint64_t bytes, bool va_flag, Site site, uint32_t thread,
                                 uint16_t function) {
  // Blocks of whole pages start on a page, which is what registration asks for (SPEC 30 §3.1).
  uint64_t rounded = RoundUp(bytes);
  if (rounded < bytes) return nullptr;
  uint64_t before = pinned_bytes_.fetch_add(rounded, std::memory_order_relaxed);
  bool allowed = pin_limit_ == 0 || (before <= pin_limit_ && rounded <= pin_limit_ - before);
  Allocation* allocation = allowed ? heap_.Allocate(rounded, rounded) : nullptr;
  if (allocation == nullptr) {
    pinned_bytes_.fetch_sub(rounded, std::memory_order_relaxed);
    return nullptr;
  }
  allocation->size = allocation->extent = bytes;
  allocation->va_flag = va_flag;
  allocation->allocated = site;
  allocation->allocated_thread = thread;
  allocation->allocated_by = function;
  allocation->state.store(Allocation::State::kLive, std::memory_order_release);
  return allocation;
}

SlabHeap::FreeResult HostMemory::Free(Allocation* allocation, Site site, uint32_t thread) {
  uint64_t charged = allocation->charged;
  if (charged >= kReturnAtOnce && allocation->live() &&
      allocation->pins.load(std::memory_order_relaxed) == 0) {
    os::Discard(Address(*allocation), charged);
  }
  // SPEC 30 §3.2: freeing a registered block leaves no dangling mapping. First, because the next tenant may
  // register.
  if (registrations_.load(std::memory_order_acquire) != 0 && allocation->live())
    Unregister(Address(*allocation));
  SlabHeap::FreeResult result = heap_.Free(allocation, site, thread);
  if (result == SlabHeap::FreeResult::kNotLive) return result;
  pinned_bytes_.fetch_sub(charged, std::memory_order_relaxed);
  return result;
}

uintptr_t HostMemory::TakeAlias(uint64_t bytes) {
  uintptr_t candidate = alias_.base;
  for (const auto& [alias, start] : by_alias_) {
    if (!alias_.Holds(alias)) continue;  // an alias that equals its host address
    if (alias - candidate >= bytes) break;
    candidate = alias + RoundUp(by_start_[start].bytes);
  }
  return candidate + bytes <= alias_.base + alias_.bytes ? candidate : 0;
}

HostMemory::RegisterResult HostMemory::Register(Registration* registration, bool alias_is_address,
                                                Registration* other) {
  MutexLock lock(mutex_);
  auto after = by_start_.lower_bound(registration->start + registration->bytes);
  if (after != by_start_.begin()) {
    const Registration& before = std::prev(after)->second;
    if (before.start + before.bytes > registration->start) {
      *other = before;
      return RegisterResult::kOverlaps;
    }
  }
  registration->alias = 0;
  if (registration->mapped) {
    registration->alias = alias_is_address ? registration->start : TakeAlias(RoundUp(registration->bytes));
    if (registration->alias == 0) return RegisterResult::kNoAlias;
    by_alias_[registration->alias] = registration->start;
  }
  by_start_[registration->start] = *registration;
  registrations_.store(static_cast<uint32_t>(by_start_.size()), std::memory_order_release);
  return RegisterResult::kRegistered;
}

bool HostMemory::Unregister(uintptr_t start) {
  MutexLock lock(mutex_);
  auto found = by_start_.find(start);
  if (found == by_start_.end()) return false;
  if (found->second.mapped) by_alias_.erase(found->second.alias);
  by_start_.erase(found);
  registrations_.store(static_cast<uint32_t>(by_start_.size()), std::memory_order_release);
  return true;
}

bool HostMemory::FindRegistration(uintptr_t address, Registration* found) const {
  if (registrations_.load(std::memory_order_acquire) == 0) return false;
  MutexLock lock(mutex_);
  auto after = by_start_.upper_bound(address);
  if (after == by_start_.begin()) return false;
  const Registration& candidate = std::prev(after)->second;
  if (address - candidate.start >= candidate.bytes) return false;
  *found = candidate;
  return true;
}

bool HostMemory::FindAlias(uintptr_t address, Registration* found) const {
  MutexLock lock(mutex_);
  auto after = by_alias_.upper_bound(address);
  if (after == by_alias_.begin()) return false;
  auto [alias, start] = *std::prev(after);
  const Registration& candidate = by_start_.at(start);
  if (address - alias >= candidate.bytes) return false;
  *found = candidate;
  return true;
}

void HostMemory::UnregisterAll(int device) {
  MutexLock lock(mutex_);
  for (auto it = by_start_.begin(); it != by_start_.end();) {
    if (device >= 0 && it->second.device != device) {
      ++it;
      continue;
    }
    if (it->second.mapped) by_alias_.erase(it->second.alias);
    it = by_start_.erase(it);
  }
  registrations_.store(static_cast<uint32_t>(by_start_.size()), std::memory_order_release);
}

bool HostMemory::IsPinned(uintptr_t address, uint64_t bytes) const {
  // Written so that a length which wraps around is not inside anything.
  auto inside = [&](uintptr_t start, uint64_t extent) {
    return address - start <= extent && bytes <= extent - (address - start);
  };
  if (address - base_ < heap_.bytes()) {
    const Allocation* allocation = Find(address);
    return allocation != nullptr && allocation->live() && inside(Address(*allocation), allocation->extent);
  }
  Registration found;
  return FindRegistration(address, &found) && found.pinned && inside(found.start, found.bytes);
}

}  // namespace belay::memory
