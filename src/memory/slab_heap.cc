#include "memory/slab_heap.h"

#include <bit>

#include "base/check.h"
#include "os/mapping.h"

namespace belay::memory {
namespace {
constexpr uint64_t kLargestSmallBlock = uint64_t{1} << 20;
constexpr int kSmallClasses = 49;  // 256 bytes, then four a power of two up to 1 MiB
// Larger runs have no class: rounded up by a quarter, few of them would fill a small address space.
constexpr uint64_t kMostClassChunks = 64;
constexpr uint32_t kRestBlocks = 64;
constexpr uint64_t kRestBytes = uint64_t{64} << 20;

// Four steps a power of two: class 0 holds up to 4 units, then (4, 5], (5, 6], ... (8, 10], (10, 12], ...
int Step(uint64_t units) {
  if (units <= 4) return 0;
  int width = std::bit_width(units - 1);  // units in (2^(width-1), 2^width]
  int quarter = static_cast<int>((units - 1 - (uint64_t{1} << (width - 1))) >> (width - 3));
  return (width - 3) * 4 + quarter + 1;
}

uint64_t StepUnits(int step) {
  if (step == 0) return 4;
  int width = (step - 1) / 4 + 3;
  return (uint64_t{1} << (width - 1)) +
         (static_cast<uint64_t>((step - 1) % 4) + 1) * (uint64_t{1} << (width - 3));
}

size_t FarBytes(uint32_t blocks) {
  return (blocks - Slab::kNear) * sizeof(Allocation);
}
}  // namespace

// What only allocating and freeing touch lies apart, so that the objects of many heaps share pages.
SlabHeap::SlabHeap(uint64_t bytes, bool rest) : bytes_(bytes), rest_(rest) {
  uintptr_t mapping = os::Reserve(0, MappedBytes(), os::Access::kReadWrite);
  BELAY_CHECK(mapping != 0);
  classes_ = reinterpret_cast<SizeClass*>(mapping);
  table_ = reinterpret_cast<std::atomic<Slab*>*>(classes_ + kClasses);
}

size_t SlabHeap::MappedBytes() const {
  return kClasses * sizeof(SizeClass) + (bytes_ >> kChunkShift) * sizeof(std::atomic<Slab*>);
}

SlabHeap::~SlabHeap() {
  for (const std::vector<Slab*>& slabs : {slabs_, retired_}) {
    for (Slab* slab : slabs) {
      if (slab->far != nullptr) os::Release(reinterpret_cast<uintptr_t>(slab->far), FarBytes(slab->blocks));
      delete slab;
    }
  }
  os::Release(reinterpret_cast<uintptr_t>(classes_), MappedBytes());
}

int SlabHeap::ClassOf(uint64_t bytes) {
  if (bytes <= kLargestSmallBlock) return Step((bytes + 63) / 64);
  uint64_t chunks = (bytes + kChunkBytes - 1) >> kChunkShift;
  return kSmallClasses + (chunks <= 4 ? static_cast<int>(chunks) - 1 : Step(chunks) + 3);
}

uint64_t SlabHeap::BlockBytes(int size_class) {
  if (size_class < kSmallClasses) return StepUnits(size_class) * 64;
  int large = size_class - kSmallClasses;
  return (large < 4 ? static_cast<uint64_t>(large) + 1 : StepUnits(large - 3)) << kChunkShift;
}

Allocation* SlabHeap::Allocate(uint64_t bytes, uint64_t charged, uint16_t module) {
  if (bytes > bytes_) return nullptr;
  MutexLock lock(mutex_);
  Fit fit = FitFor(bytes);
  Allocation* allocation = fit.of_class->free;
  if (allocation != nullptr) {
    fit.of_class->free = allocation->next;
  } else {
    allocation = Grow(fit);
    if (allocation == nullptr) return nullptr;
  }
  allocation->next = nullptr;
  allocation->charged = charged;
  allocation->module = module;
  usage_.Add(module, charged);
  ++allocation->slab->live;
  return allocation;
}

SlabHeap::Fit SlabHeap::FitFor(uint64_t bytes) {
  uint64_t chunks = (bytes + kChunkBytes - 1) >> kChunkShift;
  const int size_class = chunks > kMostClassChunks ? kExact : ClassOf(bytes);
  // In a tiny range the class of the longest run may be longer than the run.
  const bool exact = size_class == kExact || (chunks > 1 && BlockBytes(size_class) > longest_run());
  if (exact) return {&exact_[chunks], kExact, chunks << kChunkShift};
  return {&classes_[size_class], size_class, BlockBytes(size_class)};
}

SlabHeap::SizeClass& SlabHeap::ClassOfSlab(const Slab& slab) {
  return slab.size_class == kExact ? exact_[slab.block_bytes >> kChunkShift] : classes_[slab.size_class];
}

Allocation* SlabHeap::Grow(const Fit& fit) {
  SizeClass& of_class = *fit.of_class;
  Slab* slab = of_class.open;
  if (slab == nullptr || slab->used == slab->blocks) {
    bool large = fit.block_bytes >= kChunkBytes;
    uint64_t chunks = large ? fit.block_bytes >> kChunkShift : 1;
    uint64_t first = TakeFreshRun(chunks);
    bool recut = first == kNone;
    if (recut) first = TakeSpareRun(chunks);
    if (first == kNone) {
      JoinFreeRuns();
      first = TakeSpareRun(chunks);
    }
    if (first == kNone) {  // the last resort: what rests
      Allocation* oldest = of_class.rest_head;
      if (oldest == nullptr) return nullptr;
      of_class.rest_head = oldest->next;
      if (of_class.rest_head == nullptr) of_class.rest_tail = nullptr;
      --of_class.rest_blocks;
      return oldest;
    }
    slab = NewSlab(first, fit, recut);
    of_class.open = large ? nullptr : slab;
  }
  Allocation* allocation = &slab->record(slab->used);
  allocation->slab = slab;
  allocation->offset = slab->first + slab->used * slab->block_bytes;
  if (slab->recut) allocation->dirty_hi = slab->block_bytes;
  ++slab->used;
  return allocation;
}

Slab* SlabHeap::NewSlab(uint64_t first, const Fit& fit, bool recut) {
  bool large = fit.block_bytes >= kChunkBytes;
  uint64_t bytes = large ? fit.block_bytes : kChunkBytes;
  auto* slab = new Slab;
  slab->first = first;
  slab->block_bytes = fit.block_bytes;
  slab->size_class = fit.size_class;
  slab->recut = recut;
  slab->blocks = static_cast<uint32_t>(bytes / fit.block_bytes);
  if (slab->blocks > 1) slab->reciprocal = ((uint64_t{1} << 44) + slab->block_bytes - 1) / slab->block_bytes;
  // Straight from the kernel: records of blocks that were never handed out cost nothing.
  if (slab->blocks > Slab::kNear) {
    slab->far = reinterpret_cast<Allocation*>(os::Reserve(0, FarBytes(slab->blocks), os::Access::kReadWrite));
    BELAY_CHECK(slab->far != nullptr);
  }
  slabs_.push_back(slab);
  for (uint64_t chunk = first >> kChunkShift; chunk < (first + bytes) >> kChunkShift; ++chunk) {
    Entry(chunk).store(slab, std::memory_order_release);
  }
  return slab;
}

uint64_t SlabHeap::TakeFreshRun(uint64_t chunks) {
  if (chunks == 1 && first_is_fresh_) {
    first_is_fresh_ = false;
    return 0;
  }
  if (fresh_chunk_ + chunks > bytes_ >> kChunkShift) return kNone;
  uint64_t first = fresh_chunk_;
  fresh_chunk_ += chunks;
  return first << kChunkShift;
}

uint64_t SlabHeap::TakeSpareRun(uint64_t chunks) {
  for (auto it = spare_.begin(); it != spare_.end(); ++it) {
    auto [first, length] = *it;
    if (length < chunks) continue;
    spare_.erase(it);
    if (length > chunks) spare_[first + chunks] = length - chunks;
    return first << kChunkShift;
  }
  return kNone;
}

// Takes the blocks of slabs that are about to go out of a class's lists.
void SlabHeap::DropIdle(SizeClass& of_class) {
  auto idle = [](const Allocation* allocation) { return allocation->slab->live == 0; };
  Allocation** link = &of_class.free;
  while (*link != nullptr) {
    if (idle(*link))
      *link = (*link)->next;
    else
      link = &(*link)->next;
  }
  Allocation* last = nullptr;
  link = &of_class.rest_head;
  while (*link != nullptr) {
    if (idle(*link)) {
      *link = (*link)->next;
      --of_class.rest_blocks;
    } else {
      last = *link;
      link = &(*link)->next;
    }
  }
  of_class.rest_tail = last;
  if (of_class.open != nullptr && of_class.open->live == 0) of_class.open = nullptr;
}

// Slabs whose blocks are all free or at rest give their chunks back. Their records stay readable for whoever
// found them a moment ago, and are forgotten by the table when the chunks are cut anew.
void SlabHeap::JoinFreeRuns() {
  for (int i = 0; i < kClasses; ++i) DropIdle(classes_[i]);
  for (auto& [chunks, of_class] : exact_) DropIdle(of_class);
  std::vector<Slab*> kept;
  for (Slab* slab : slabs_) {
    if (slab->live != 0) {
      kept.push_back(slab);
      continue;
    }
    uint64_t bytes = slab->large() ? slab->block_bytes : kChunkBytes;
    spare_[slab->first >> kChunkShift] = bytes >> kChunkShift;
    retired_.push_back(slab);
  }
  slabs_.swap(kept);
  // What was never used joins too, so that a free range is one run again; who takes it finds zeroes all the
  // same.
  if (uint64_t fresh = (bytes_ >> kChunkShift) - fresh_chunk_; fresh != 0) {
    spare_[fresh_chunk_] = fresh;
    fresh_chunk_ += fresh;
  }
  for (auto it = spare_.begin(); it != spare_.end();) {
    auto after = std::next(it);
    if (it->first != 0 && after != spare_.end() && it->first + it->second == after->first) {
      it->second += after->second;
      spare_.erase(after);
    } else {
      it = after;
    }
  }
}

SlabHeap::FreeResult SlabHeap::Free(Allocation* allocation, Site site, uint32_t thread) {
  MutexLock lock(mutex_);
  if (allocation->state.load(std::memory_order_relaxed) != Allocation::State::kLive)
    return FreeResult::kNotLive;
  allocation->freed = site;
  allocation->freed_thread = thread;
  allocation->by_reset = false;
  usage_.Remove(allocation->module, allocation->charged);
  allocation->state.store(Allocation::State::kFreed, std::memory_order_seq_cst);
  if (allocation->pins.load(std::memory_order_seq_cst) != 0) {
    allocation->limbo = true;
    return FreeResult::kInUse;
  }
  TakeBack(allocation);
  return FreeResult::kFreed;
}

void SlabHeap::LeaveLimbo(Allocation* allocation) {
  MutexLock lock(mutex_);
  if (!allocation->limbo || allocation->pins.load(std::memory_order_seq_cst) != 0) return;
  allocation->limbo = false;
  TakeBack(allocation);
}

void SlabHeap::TakeBack(Allocation* allocation) {
  Slab* slab = allocation->slab;
  SizeClass& of_class = ClassOfSlab(*slab);
  --slab->live;
  allocation->next = nullptr;
  if (rest_) {
    (of_class.rest_tail != nullptr ? of_class.rest_tail->next : of_class.rest_head) = allocation;
    of_class.rest_tail = allocation;
    ++of_class.rest_blocks;
    if (of_class.rest_blocks <= kRestBlocks && of_class.rest_blocks * slab->block_bytes <= kRestBytes) return;
    allocation = of_class.rest_head;
    of_class.rest_head = allocation->next;
    if (of_class.rest_head == nullptr) of_class.rest_tail = nullptr;
    --of_class.rest_blocks;
  }
  allocation->next = of_class.free;
  of_class.free = allocation;
}

}  // namespace belay::memory
