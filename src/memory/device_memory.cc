#include "memory/device_memory.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "os/mapping.h"

namespace belay::memory {
namespace {
constexpr uint64_t kLargeBlock = uint64_t{16} << 20;

size_t BitmapBytes(uint64_t heap_bytes) {
  return std::max<size_t>((heap_bytes >> kChunkShift) / 8, 8);
}
}  // namespace

DeviceMemory::DeviceMemory(int device, const AddressSpace& space, Books& books, PhysicalMemory& physical,
                           bool rest_freed, bool poison)
    : device_(device),
      base_(space.ShareBase(device)),
      engine_(space.engine_share(device)),
      heap_(space.share_bytes(), rest_freed),
      poison_(poison),
      books_(books),
      physical_(physical) {
  committed_ =
      reinterpret_cast<uint64_t*>(os::Reserve(0, BitmapBytes(heap_.bytes()), os::Access::kReadWrite));
  BELAY_CHECK(committed_ != nullptr);
  physical_.AddSource(this);
}

DeviceMemory::~DeviceMemory() {
  os::Release(reinterpret_cast<uintptr_t>(committed_), BitmapBytes(heap_.bytes()));
}

Allocation* DeviceMemory::Allocate(const Request& request, Shortage* shortage) {
  PagePlan plan = PlanPages(request.policy, request.size);
  uint64_t padded = PaddedSize(request.size, plan.size, request.align32);
  *shortage = Shortage::kCapacity;
  if (padded == 0 || padded > books_.limits().capacity) return nullptr;
  uint64_t charged = ChargedBytes(padded, plan.size);
  if (!books_.ChargePages(device_, charged, plan.size, plan.p2p)) {
    if (!plan.may_fall_back) return nullptr;
    plan.size = PageSize::kNormal;
    charged = ChargedBytes(padded, plan.size);
    if (!books_.ChargePages(device_, charged, plan.size, plan.p2p)) return nullptr;
  }
  Allocation* allocation = heap_.Allocate(padded, charged, request.module);
  if (allocation == nullptr) {
    books_.RefundPages(device_, charged, plan.size, plan.p2p);
    *shortage = Shortage::kAddressSpace;
    return nullptr;
  }
  // What the last tenant wrote stays in the engine mapping until somebody needs it to be zero.
  uint64_t lo = allocation->valid_lo.load(std::memory_order_relaxed);
  uint64_t hi = allocation->valid_hi.load(std::memory_order_relaxed);
  if (lo < hi) {
    bool was_dirty = allocation->dirty_lo < allocation->dirty_hi;
    allocation->dirty_lo = was_dirty ? std::min(allocation->dirty_lo, lo) : lo;
    allocation->dirty_hi = was_dirty ? std::max(allocation->dirty_hi, hi) : hi;
  }
  allocation->valid_lo.store(~uint64_t{0}, std::memory_order_relaxed);
  allocation->valid_hi.store(0, std::memory_order_relaxed);
  allocation->committed.store(0, std::memory_order_relaxed);
  allocation->pages = plan.size;
  allocation->p2p = plan.p2p;
  allocation->size = request.size;
  allocation->extent = request.align32 ? (request.size + 31) / 32 * 32 : request.size;
  allocation->allocated = request.site;
  allocation->allocated_thread = request.thread;
  allocation->allocated_by = request.function;
  if (poison_) {
    MutexLock lock(backing_);
    written_.erase(allocation);
  }
  allocation->state.store(Allocation::State::kLive, std::memory_order_release);
  *shortage = Shortage::kNone;
  return allocation;
}

SlabHeap::FreeResult DeviceMemory::Free(Allocation* allocation, Site site, uint32_t thread) {
  uint64_t charged = allocation->charged;
  PageSize pages = allocation->pages;
  bool p2p = allocation->p2p;
  SlabHeap::FreeResult result = heap_.Free(allocation, site, thread);
  if (result == SlabHeap::FreeResult::kNotLive) return result;
  books_.RefundPages(device_, charged, pages, p2p);
  // Freed chunks stay warm for the next block while host RAM is plentiful.
  if (charged >= kLargeBlock && physical_.used_bytes() > physical_.budget_bytes() / 2) GiveIdleChunksBack();
  return result;
}

void DeviceMemory::ReleaseAll(Site site, uint32_t thread) {
  std::vector<Allocation*> live;
  heap_.ForEachLive([&](Allocation& allocation) { live.push_back(&allocation); });
  for (Allocation* allocation : live) {
    if (Free(allocation, site, thread) != SlabHeap::FreeResult::kNotLive) allocation->by_reset = true;
  }
}

void DeviceMemory::ReadUnwritten(Allocation& allocation, uint64_t at, uint64_t bytes) {
  if (bytes == 0 || poison_) return;
  MutexLock lock(backing_);
  JoinValid(allocation, at, at + bytes, 0, 0);
}

bool DeviceMemory::WriteFresh(Allocation& allocation, uint64_t at, uint64_t bytes, bool gaps) {
  if (bytes == 0) return true;
  uint64_t first = (allocation.offset + at) >> kChunkShift;
  uint64_t past = ((allocation.offset + at + bytes - 1) >> kChunkShift) + 1;
  for (int attempt = 0;; ++attempt) {
    {
      MutexLock lock(backing_);
      if (Commit(first, past)) {
        uint64_t known = allocation.committed.load(std::memory_order_relaxed);
        uint64_t known_first = known >> 32, known_past = known & 0xffffffff;
        // Ranges that touch are joined; otherwise the newer one is worth more.
        if (known != 0 && first <= known_past && past >= known_first) {
          first = std::min(first, known_first);
          past = std::max(past, known_past);
        }
        allocation.committed.store(first << 32 | past, std::memory_order_relaxed);
        if (poison_) {
          if (!gaps) written_[&allocation].Add(at, at + bytes);
          return true;
        }
        uint64_t skip_hi = gaps ? at : at + bytes;
        JoinValid(allocation, at, at + bytes, at, skip_hi);
        return true;
      }
    }
    if (attempt != 0) return false;
    physical_.Reclaim();
  }
}

// Counts the chunks that are not committed yet, all or none.
bool DeviceMemory::Commit(uint64_t first_chunk, uint64_t past_chunk) {
  uint64_t missing = 0;
  for (uint64_t chunk = first_chunk; chunk < past_chunk; ++chunk) {
    missing += (committed_[chunk / 64] >> (chunk % 64) & 1) ^ 1;
  }
  if (missing == 0) return true;
  if (!physical_.Take(missing)) return false;
  for (uint64_t chunk = first_chunk; chunk < past_chunk; ++chunk) {
    committed_[chunk / 64] |= uint64_t{1} << (chunk % 64);
  }
  return true;
}

void DeviceMemory::Uncommit(uint64_t first_chunk, uint64_t past_chunk) {
  uint64_t returned = 0;
  for (uint64_t chunk = first_chunk; chunk < past_chunk; ++chunk) {
    uint64_t bit = uint64_t{1} << (chunk % 64);
    if ((committed_[chunk / 64] & bit) == 0) continue;
    committed_[chunk / 64] &= ~bit;
    ++returned;
  }
  if (returned == 0) return;
  os::Discard(reinterpret_cast<uintptr_t>(engine_.At(first_chunk << kChunkShift)), (past_chunk - first_chunk)
                                                                                       << kChunkShift);
  physical_.Return(returned);
}

// Extends the interval of right bytes to hold [lo, hi). Whatever else it takes in is zeroed, but for
// [skip_lo, skip_hi), which the caller is about to write.
void DeviceMemory::JoinValid(Allocation& allocation, uint64_t lo, uint64_t hi, uint64_t skip_lo,
                             uint64_t skip_hi) {
  uint64_t valid_lo = allocation.valid_lo.load(std::memory_order_relaxed);
  uint64_t valid_hi = allocation.valid_hi.load(std::memory_order_relaxed);
  uint64_t new_lo = std::min(lo, valid_lo), new_hi = std::max(hi, valid_hi);
  if (new_lo == valid_lo && new_hi == valid_hi) return;
  auto zero_but_skip = [&](uint64_t from, uint64_t to) BELAY_REQUIRES(backing_) {
    if (from >= to) return;
    Zero(allocation, from, std::clamp(skip_lo, from, to));
    Zero(allocation, std::clamp(std::max(skip_hi, skip_lo), from, to), to);
  };
  if (valid_lo >= valid_hi) {
    zero_but_skip(new_lo, new_hi);
  } else {
    zero_but_skip(new_lo, valid_lo);
    zero_but_skip(valid_hi, new_hi);
  }
  // Released after the zeroes: another stream may write its own bytes of the range as soon as it sees the
  // interval.
  allocation.valid_lo.store(new_lo, std::memory_order_release);
  allocation.valid_hi.store(new_hi, std::memory_order_release);
}

void DeviceMemory::Zero(const Allocation& allocation, uint64_t lo, uint64_t hi) {
  lo = std::max(lo, allocation.dirty_lo);
  hi = std::min(hi, allocation.dirty_hi);
  for (uint64_t at = lo; at < hi;) {
    uint64_t chunk = (allocation.offset + at) >> kChunkShift;
    uint64_t chunk_end = ((chunk + 1) << kChunkShift) - allocation.offset;
    uint64_t end = std::min(hi, chunk_end);
    // An uncommitted chunk reads as zero already.
    if ((committed_[chunk / 64] >> (chunk % 64) & 1) != 0) {
      memset(engine_.At(allocation.offset + at), 0, end - at);
    }
    at = end;
  }
}

bool DeviceMemory::AllWritten(const Allocation& allocation, uint64_t at, uint64_t bytes) {
  MutexLock lock(backing_);
  auto found = written_.find(&allocation);
  return found != written_.end() && found->second.Holds(at, at + bytes);
}

void DeviceMemory::NoteWritten(const Allocation& allocation, uint64_t at, uint64_t pitch, uint64_t width,
                               uint64_t height) {
  MutexLock lock(backing_);
  IntervalSet& written = written_[&allocation];
  for (uint64_t row = 0; row < height; ++row) written.Add(at + row * pitch, at + row * pitch + width);
}

void DeviceMemory::FindPieces(const Allocation& allocation, uint64_t at, uint64_t bytes,
                              std::vector<Piece>* pieces) {
  pieces->clear();
  MutexLock lock(backing_);
  written_[&allocation].ForEachPiece(at, at + bytes, [&](uint64_t from, uint64_t to, bool written) {
    pieces->push_back({from - at, to - at, written});
  });
}

uint64_t DeviceMemory::Poisoned(const Allocation& allocation, uint64_t at, uint64_t word) {
  std::vector<Piece> pieces;
  FindPieces(allocation, at, sizeof word, &pieces);
  for (const Piece& piece : pieces) {
    if (!piece.written)
      memset(reinterpret_cast<uint8_t*>(&word) + piece.from, kPoison, piece.to - piece.from);
  }
  return word;
}

void DeviceMemory::GiveIdleChunksBack() {
  heap_.ForEachIdle([&](uint64_t first, uint64_t bytes) {
    MutexLock lock(backing_);
    Uncommit(first >> kChunkShift, (first + bytes) >> kChunkShift);
  });
}

}  // namespace belay::memory
