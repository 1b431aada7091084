// Hands out blocks of an address range and finds the block of any address again with two loads and no lock.
//
// The range is cut into chunks of 2 MiB. A chunk holds blocks of one size class up to 1 MiB, or belongs to a
// run of chunks that is one large block. The first chunk is never part of a run, for its bytes lie apart.
// Classes step four times per power of two, so a block is at most 25 %
// too long; runs beyond 128 MiB are as long as they need to be, so that large blocks fill a small address
// space.
//
//   table[chunk] -> Slab { first offset, block bytes, reciprocal } -> record((offset - first) / block bytes)
//
// Guarantees: no limit but the range itself: when no run is left, free runs are joined and cut anew. Freed
// blocks rest in a queue per class (64 blocks or 64 MiB) before reuse if so configured, so that a stale
// pointer meets a tombstone and not the next tenant. Threading: Find is lock-free; everything else takes the
// heap's lock. Cost: Allocate or Free of a class that was used before is a list operation.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/thread_annotations.h"
#include "memory/allocation.h"
#include "memory/module_usage.h"

namespace belay::memory {

constexpr int kChunkShift = 21;
constexpr uint64_t kChunkBytes = uint64_t{1} << kChunkShift;

struct alignas(64) Slab {
  uint64_t first = 0;  // offset of block 0
  uint64_t block_bytes = 0;
  uint64_t reciprocal = 0;  // 2^44 / block_bytes rounded up; 0 for a single block
  uint32_t blocks = 0;      // that fit
  uint32_t used = 0;        // handed out at least once; heap lock
  uint32_t live = 0;        // handed out and not back on the free list; heap lock
  int size_class = 0;
  bool recut = false;  // the chunks had other blocks before: their bytes may be dirty
  // The first records stand beside what leads to them, so that a large block needs no page for its one
  // record, and a few small ones on each of many devices no page of each.
  static constexpr uint32_t kNear = 2;
  Allocation* far = nullptr;  // the records behind them
  Allocation near[kNear];

  bool large() const { return reciprocal == 0; }
  Allocation& record(uint64_t index) { return index < kNear ? near[index] : far[index - kNear]; }
};

class SlabHeap {
 public:
  // `rest`: freed blocks rest before reuse.
  SlabHeap(uint64_t bytes, bool rest);
  ~SlabHeap();
  SlabHeap(const SlabHeap&) = delete;
  SlabHeap& operator=(const SlabHeap&) = delete;

  // A block of at least `bytes`, its record not live yet: the caller fills it and publishes the state. Null
  // when the range has no room for it. `bytes` > 0. `charged` and `module`: what it counts as, and for whom,
  // until it is freed.
  Allocation* Allocate(uint64_t bytes, uint64_t charged = 0, uint16_t module = ModuleUsage::kApplication)
      BELAY_EXCLUDES(mutex_);

  enum class FreeResult : uint8_t {
    kFreed,
    kInUse,    // freed; the block is kept apart until its tasks are done
    kNotLive,  // lost a race with another free
  };
  // Turns a live record into a tombstone and takes the block back.
  FreeResult Free(Allocation* allocation, Site site, uint32_t thread) BELAY_EXCLUDES(mutex_);

  // A task will touch the block / is done with it.
  static void Pin(Allocation* allocation) { allocation->pins.fetch_add(1, std::memory_order_relaxed); }
  void Unpin(Allocation* allocation) {
    if (allocation->pins.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
        allocation->state.load(std::memory_order_seq_cst) != Allocation::State::kLive) {
      LeaveLimbo(allocation);
    }
  }

  // The record of the block around `offset`, whatever its state; null where no block ever was.
  Allocation* Find(uint64_t offset) const {
    Slab* slab = Entry(offset >> kChunkShift).load(std::memory_order_acquire);
    if (slab == nullptr) return nullptr;
    uint64_t index = ((offset - slab->first) * slab->reciprocal) >> 44;
    return index < slab->blocks ? &slab->record(index) : nullptr;
  }

  // Calls visit(Allocation&) for every live block, under the lock.
  template <class Visitor>
  void ForEachLive(Visitor&& visit) BELAY_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    for (Slab* slab : slabs_) {
      for (uint32_t i = 0; i < slab->used; ++i) {
        if (slab->record(i).live()) visit(slab->record(i));
      }
    }
  }

  // Calls visit(first offset, bytes) for every stretch of whole chunks that no live or pinned block touches.
  template <class Visitor>
  void ForEachIdle(Visitor&& visit) BELAY_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    for (Slab* slab : slabs_) {
      if (slab->live != 0) continue;
      visit(slab->first, slab->large() ? slab->block_bytes : kChunkBytes);
      for (uint32_t i = 0; i < slab->used; ++i) slab->record(i).dirty_lo = slab->record(i).dirty_hi = 0;
    }
    for (auto [first, chunks] : spare_) visit(first << kChunkShift, chunks << kChunkShift);
  }

  std::vector<ModuleUsage::Entry> usage() BELAY_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return usage_.Entries();
  }
  uint64_t bytes() const { return bytes_; }
  uint64_t longest_run() const { return bytes_ - kChunkBytes; }

 private:
  static constexpr int kClasses = 80;
  static constexpr int kExact = -1;

  struct SizeClass {
    Allocation* free = nullptr;       // last in, first out
    Allocation* rest_head = nullptr;  // oldest
    Allocation* rest_tail = nullptr;
    uint32_t rest_blocks = 0;
    Slab* open = nullptr;  // small classes: the slab with unused blocks
  };

  static int ClassOf(uint64_t bytes);
  static uint64_t BlockBytes(int size_class);

  // What a request of so many bytes is served from.
  struct Fit {
    SizeClass* of_class;
    int size_class;  // kExact: one of exact_
    uint64_t block_bytes;
  };
  Fit FitFor(uint64_t bytes) BELAY_REQUIRES(mutex_);
  SizeClass& ClassOfSlab(const Slab& slab) BELAY_REQUIRES(mutex_);

  Allocation* Grow(const Fit& fit) BELAY_REQUIRES(mutex_);
  Slab* NewSlab(uint64_t first, const Fit& fit, bool recut) BELAY_REQUIRES(mutex_);
  // Offset of a run of chunks, or kNone. Chunks from the spare runs had blocks before.
  uint64_t TakeFreshRun(uint64_t chunks) BELAY_REQUIRES(mutex_);
  uint64_t TakeSpareRun(uint64_t chunks) BELAY_REQUIRES(mutex_);
  void DropIdle(SizeClass& of_class) BELAY_REQUIRES(mutex_);
  void JoinFreeRuns() BELAY_REQUIRES(mutex_);
  void TakeBack(Allocation* allocation) BELAY_REQUIRES(mutex_);
  void LeaveLimbo(Allocation* allocation) BELAY_EXCLUDES(mutex_);

  static constexpr uint64_t kNone = ~uint64_t{0};

  // One table entry a chunk. The first ones stand in the object: a small heap touches no page of the table.
  static constexpr uint64_t kNear = 4;
  std::atomic<Slab*>& Entry(uint64_t chunk) { return chunk < kNear ? near_[chunk] : table_[chunk]; }
  const std::atomic<Slab*>& Entry(uint64_t chunk) const {
    return chunk < kNear ? near_[chunk] : table_[chunk];
  }
  size_t MappedBytes() const;

  std::atomic<Slab*> near_[kNear] = {};
  std::atomic<Slab*>* table_;  // zero pages until used
  const uint64_t bytes_;
  const bool rest_;
  Mutex mutex_;
  SizeClass* classes_ BELAY_GUARDED_BY(mutex_);                   // kClasses; in front of the table
  std::map<uint64_t, SizeClass> exact_ BELAY_GUARDED_BY(mutex_);  // by chunks: runs beyond the classes
  std::vector<Slab*> slabs_ BELAY_GUARDED_BY(mutex_);
  std::vector<Slab*> retired_ BELAY_GUARDED_BY(mutex_);  // cut anew since; a late reader may hold a record
  std::map<uint64_t, uint64_t> spare_ BELAY_GUARDED_BY(mutex_);  // joined runs: first chunk -> chunks
  ModuleUsage usage_ BELAY_GUARDED_BY(mutex_);
  bool first_is_fresh_ BELAY_GUARDED_BY(mutex_) = true;
  uint64_t fresh_chunk_ BELAY_GUARDED_BY(mutex_) = 1;  // chunks from here on were never used
};

}  // namespace belay::memory
