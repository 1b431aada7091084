// One block of a heap and what is known about it: live, or the tombstone of the last one that lived there.
//
// Guarantees: the storage is never given back, so a stale pointer always finds a readable record.
// Threading: `state` is published with release; the fields behind it stay as they are while it is live.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/site.h"
#include "memory/page_accounts.h"

namespace belay::memory {

struct Slab;

struct alignas(64) Allocation {
  enum class State : uint8_t { kNever, kLive, kFreed };
  static constexpr uint16_t kNobody = 0xffff;

  std::atomic<State> state{State::kNever};
  PageSize pages = PageSize::kNormal;
  bool p2p = false;       // charged by a P2P policy
  bool limbo = false;     // freed while tasks still use it; heap lock
  bool by_reset = false;  // the tombstone of a device reset, not of a free
  bool va_flag = false;   // pinned memory whose alias is its own address
  uint16_t module = 0;    // ACL_RT_MEM_ATTR_MODULE_ID
  uint64_t offset = 0;    // of the block, in its heap
  uint64_t size = 0;      // bytes that the caller asked for
  uint64_t extent = 0;    // bytes that range checks allow
  uint64_t charged = 0;   // bytes of the capacity that it takes

  // The bytes [valid_lo, valid_hi) of the block are right in the engine mapping: written, or zeroed because
  // unwritten bytes read as zero. Grows only, while the block is live. Empty: lo > hi.
  std::atomic<uint64_t> valid_lo{~uint64_t{0}};
  std::atomic<uint64_t> valid_hi{0};
  // Chunks known to be committed, (first << 32) | one past last, as numbers in the heap. A cache: 0 = none
  // known.
  std::atomic<uint64_t> committed{0};

  std::atomic<uint32_t> pins{0};  // tasks that will touch the block
  uint32_t allocated_thread = 0;
  uint32_t freed_thread = 0;
  uint16_t allocated_by = kNobody;  // the API function, as its caller numbers them
  Site allocated;
  Site freed;
  // Bytes that an earlier tenant may have left in the engine mapping; empty: lo >= hi. Backing lock.
  uint64_t dirty_lo = 0, dirty_hi = 0;
  Allocation* next = nullptr;  // free list or rest; heap lock
  Slab* slab = nullptr;

  bool live() const { return state.load(std::memory_order_acquire) == State::kLive; }
};
static_assert(sizeof(Allocation) == 128);

}  // namespace belay::memory
