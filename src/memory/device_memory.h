// The memory of one device: blocks with user addresses in the no-access window, their bytes in the engine
// mapping.
//
// Unwritten bytes read as zero (SPEC 30 §2.1) although a block may hold what an earlier tenant left: each
// block knows one interval of right bytes, and whatever joins the interval later is zeroed first. Reading
// commits nothing. While `uninitialized-read` is looked for they read as poison instead: each block keeps the
// set of written bytes, no range ever counts as ready, and who moves bytes asks which of them are written.
//
// Threading: Find, PrepareRead and PrepareWrite of a range that was prepared before are lock-free; the rest
// locks the heap or the backing, in this order. Cost: two loads for Find, two or three for a prepared range.
#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/interval_set.h"
#include "base/site.h"
#include "base/thread_annotations.h"
#include "memory/address_space.h"
#include "memory/allocation.h"
#include "memory/books.h"
#include "memory/malloc_policy.h"
#include "memory/physical_memory.h"
#include "memory/slab_heap.h"

namespace belay::memory {

static_assert(AddressSpace::kFirstChunk == kChunkBytes, "a slab lies in the first chunk or in the rest");

class alignas(64) DeviceMemory final : public PhysicalMemory::Source {
 public:
  DeviceMemory(int device, const AddressSpace& space, Books& books, PhysicalMemory& physical, bool rest_freed,
               bool poison = false);
  ~DeviceMemory();

  struct Request {
    uint64_t size = 0;  // bytes, not 0
    uint32_t policy = 0;
    bool align32 = false;
    uint16_t module = ModuleUsage::kApplication;  // ACL_RT_MEM_ATTR_MODULE_ID
    Site site;
    uint32_t thread = 0;
    uint16_t function = Allocation::kNobody;
  };
  enum class Shortage : uint8_t { kNone, kCapacity, kAddressSpace };

  // A live block, or null and the reason.
  Allocation* Allocate(const Request& request, Shortage* shortage);
  SlabHeap::FreeResult Free(Allocation* allocation, Site site, uint32_t thread);
  // Frees every live block, as a device reset does.
  void ReleaseAll(Site site, uint32_t thread);

  // The record around a user address of this device's share; null where no block ever was.
  Allocation* Find(uintptr_t address) const { return heap_.Find(address - base_); }
  uintptr_t UserAddress(const Allocation& allocation) const { return base_ + allocation.offset; }
  uint8_t* EngineStart(const Allocation& allocation) const { return engine_.At(allocation.offset); }
  uint8_t* EngineAddress(uintptr_t address) const { return engine_.At(address - base_); }
  void Unpin(Allocation* allocation) { heap_.Unpin(allocation); }

  // Whether `bytes` from `at` on (both relative to the block) are right to read, or fit to be written, as
  // they are.
  static bool ReadyToRead(const Allocation& allocation, uint64_t at, uint64_t bytes) {
    return at >= allocation.valid_lo.load(std::memory_order_acquire) &&
           at + bytes <= allocation.valid_hi.load(std::memory_order_acquire);
  }
  static bool ReadyToWrite(const Allocation& allocation, uint64_t at, uint64_t bytes) {
    uint64_t committed = allocation.committed.load(std::memory_order_relaxed);
    return ReadyToRead(allocation, at, bytes) && (allocation.offset + at) >> kChunkShift >= committed >> 32 &&
           (allocation.offset + at + bytes - 1) >> kChunkShift < (committed & 0xffffffff);
  }

  // Makes a range right to read; with poison, its written bytes are.
  void PrepareRead(Allocation& allocation, uint64_t at, uint64_t bytes) {
    if (!ReadyToRead(allocation, at, bytes)) ReadUnwritten(allocation, at, bytes);
  }

  // Makes a range fit to be written: counts its chunks. `gaps`: the write leaves bytes of the range
  // alone, and with poison the caller notes what it writes. False, and nothing changes, when the host's
  // budget is used up.
  [[nodiscard]] bool PrepareWrite(Allocation& allocation, uint64_t at, uint64_t bytes, bool gaps) {
    return ReadyToWrite(allocation, at, bytes) || WriteFresh(allocation, at, bytes, gaps);
  }

  // Poison. Rows as in a copy: `height` of `width` bytes, `pitch` apart.
  static constexpr uint8_t kPoison = 0xA5;  // SPEC 30 §2.1
  bool poisons() const { return poison_; }
  bool AllWritten(const Allocation& allocation, uint64_t at, uint64_t bytes) BELAY_EXCLUDES(backing_);
  void NoteWritten(const Allocation& allocation, uint64_t at, uint64_t pitch, uint64_t width, uint64_t height)
      BELAY_EXCLUDES(backing_);
  struct Piece {
    uint64_t from, to;  // relative to the start of the range
    bool written;
  };
  // The pieces of a range, in order.
  void FindPieces(const Allocation& allocation, uint64_t at, uint64_t bytes, std::vector<Piece>* pieces)
      BELAY_EXCLUDES(backing_);
  // A word that was read at `at`, its unwritten bytes replaced.
  uint64_t Poisoned(const Allocation& allocation, uint64_t at, uint64_t word) BELAY_EXCLUDES(backing_);

  void GiveIdleChunksBack() override;

  int device() const { return device_; }
  // Bytes charged by module, now and at most; this process alone.
  std::vector<ModuleUsage::Entry> usage() { return heap_.usage(); }
  uint64_t largest_block() const { return heap_.longest_run(); }
  template <class Visitor>
  void ForEachLive(Visitor&& visit) {
    heap_.ForEachLive(visit);
  }

 private:
  void ReadUnwritten(Allocation& allocation, uint64_t at, uint64_t bytes) BELAY_EXCLUDES(backing_);
  bool WriteFresh(Allocation& allocation, uint64_t at, uint64_t bytes, bool gaps) BELAY_EXCLUDES(backing_);
  bool Commit(uint64_t first_chunk, uint64_t past_chunk) BELAY_REQUIRES(backing_);
  void Uncommit(uint64_t first_chunk, uint64_t past_chunk) BELAY_REQUIRES(backing_);
  void JoinValid(Allocation& allocation, uint64_t lo, uint64_t hi, uint64_t skip_lo, uint64_t skip_hi)
      BELAY_REQUIRES(backing_);
  void Zero(const Allocation& allocation, uint64_t lo, uint64_t hi) BELAY_REQUIRES(backing_);

  const int device_;
  const uintptr_t base_;
  const AddressSpace::EngineShare engine_;
  SlabHeap heap_;  // begins in the first cache line: what leads from an address to its block
  const bool poison_;
  Books& books_;
  PhysicalMemory& physical_;
  Mutex backing_;
  uint64_t* committed_ BELAY_GUARDED_BY(backing_);  // one bit a chunk; zero pages until used
  // With poison only: the written bytes of each block. Kept after a free, because tasks may still use it.
  std::unordered_map<const Allocation*, IntervalSet> written_ BELAY_GUARDED_BY(backing_);
};

}  // namespace belay::memory
