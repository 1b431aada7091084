#include "memory/slab_heap.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace belay::memory {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
using FreeResult = SlabHeap::FreeResult;

// What the owner of a heap does with a fresh record.
Allocation* Take(SlabHeap& heap, uint64_t bytes) {
  Allocation* allocation = heap.Allocate(bytes);
  if (allocation == nullptr) return nullptr;
  EXPECT_FALSE(allocation->live());
  allocation->size = bytes;
  allocation->state.store(Allocation::State::kLive, std::memory_order_release);
  return allocation;
}

FreeResult Give(SlabHeap& heap, Allocation* allocation) {
  return heap.Free(allocation, Site{0x1234}, 7);
}

uint64_t LiveBlocks(SlabHeap& heap) {
  uint64_t count = 0;
  heap.ForEachLive([&](Allocation&) { ++count; });
  return count;
}

// The most chunks that one block takes out of a run of `chunks`: four steps a power of two.
uint64_t BlockWithin(uint64_t chunks) {
  if (chunks <= 8) return chunks;
  uint64_t power = uint64_t{1} << (63 - __builtin_clzll(chunks));
  return power + (chunks - power) / (power / 4) * (power / 4);
}

// The chunks that a block of `bytes` takes.
uint64_t ChunksOf(uint64_t bytes) {
  uint64_t chunks = bytes <= kMiB ? 1 : (bytes + kChunkBytes - 1) >> kChunkShift;
  while (BlockWithin(chunks) != chunks) ++chunks;
  return chunks;
}

// Live blocks by offset.
class Model {
 public:
  void Add(const Allocation& allocation, uint64_t heap_bytes) {
    uint64_t end = allocation.offset + allocation.size;
    EXPECT_LE(end, heap_bytes);
    EXPECT_EQ(allocation.offset % 64, 0u);
    auto after = blocks_.lower_bound(allocation.offset);
    if (after != blocks_.end()) {
      EXPECT_LE(end, after->first) << "reaches into the next block";
    }
    if (after != blocks_.begin()) {
      EXPECT_LE(std::prev(after)->second, allocation.offset) << "starts inside a block";
    }
    blocks_[allocation.offset] = end;
  }
  void Remove(const Allocation& allocation) { blocks_.erase(allocation.offset); }
  size_t size() const { return blocks_.size(); }

  // The longest run of whole chunks without a block.
  uint64_t LongestRun(uint64_t heap_bytes) const {
    std::vector<bool> taken(heap_bytes >> kChunkShift);
    for (auto [start, end] : blocks_) {
      uint64_t first = start >> kChunkShift;
      for (uint64_t i = 0; i < ChunksOf(end - start); ++i) taken.at(first + i) = true;
    }
    uint64_t longest = taken[0] ? 0 : 1, run = 0;  // the first chunk is a run of its own
    for (size_t i = 1; i < taken.size(); ++i) longest = std::max(longest, run = taken[i] ? 0 : run + 1);
    return longest;
  }

 private:
  std::map<uint64_t, uint64_t> blocks_;
};

uint64_t RandomSize(std::mt19937_64& random) {
  uint64_t size = random() % (uint64_t{1} << (1 + random() % 24));
  return size == 0 ? 1 : size;
}

class SlabHeapTest : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, SlabHeapTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "FreedBlocksRest" : "ReusedAtOnce"; });

TEST_P(SlabHeapTest, RandomBlocksNeverOverlapAndAreFound) {
  for (uint64_t heap_bytes : {16 * kMiB, 256 * kMiB, uint64_t{1} << 40}) {
    SlabHeap heap(heap_bytes, GetParam());
    std::mt19937_64 random(heap_bytes);
    Model model;
    std::vector<Allocation*> live;
    for (int step = 0; step < 4000 && !HasFailure(); ++step) {
      if (random() % 16 < 9) {
        Allocation* allocation = Take(heap, RandomSize(random));
        if (allocation == nullptr) continue;
        model.Add(*allocation, heap_bytes);
        live.push_back(allocation);
      } else if (!live.empty()) {
        std::swap(live[random() % live.size()], live.back());
        Allocation* allocation = live.back();
        live.pop_back();
        model.Remove(*allocation);
        ASSERT_EQ(Give(heap, allocation), FreeResult::kFreed);
        ASSERT_EQ(heap.Find(allocation->offset), allocation) << "the tombstone";
        ASSERT_EQ(allocation->state.load(), Allocation::State::kFreed);
      }
      for (int look = 0; look < 4 && !live.empty(); ++look) {
        Allocation* allocation = live[random() % live.size()];
        for (uint64_t at : {uint64_t{0}, allocation->size - 1, random() % allocation->size}) {
          ASSERT_EQ(heap.Find(allocation->offset + at), allocation) << at << " of " << allocation->size;
        }
        ASSERT_TRUE(allocation->live());
      }
    }
    EXPECT_EQ(LiveBlocks(heap), model.size());
    for (Allocation* allocation : live) Give(heap, allocation);
    EXPECT_EQ(LiveBlocks(heap), 0u);
  }
}

TEST_P(SlabHeapTest, EveryByteOfEveryClassFindsItsBlock) {
  for (uint64_t size = 1; size <= kMiB; size += size < 4096 ? 61 : size / 9) {
    SlabHeap heap(64 * kMiB, GetParam());
    std::vector<Allocation*> blocks;
    for (int i = 0; i < 40; ++i) blocks.push_back(Take(heap, size));
    for (size_t i = 0; i + 1 < blocks.size(); ++i) {
      // In one chunk, blocks of a class lie one after the other, so the next start tells where this one ends.
      uint64_t start = blocks[i]->offset, end = blocks[i + 1]->offset;
      if (start >> kChunkShift != end >> kChunkShift) continue;
      ASSERT_LE(end - start, std::max<uint64_t>(256, size + size / 4 + 64)) << size;
      for (uint64_t at = start; at < end; at += std::max<uint64_t>(1, (end - start) / 37)) {
        ASSERT_EQ(heap.Find(at), blocks[i]);
      }
      ASSERT_EQ(heap.Find(end - 1), blocks[i]);
      ASSERT_EQ(heap.Find(end), blocks[i + 1]);
    }
  }
}

TEST_P(SlabHeapTest, LargeBlocksAreFoundInEveryChunk) {
  SlabHeap heap(uint64_t{1} << 36, GetParam());
  for (uint64_t size : {kMiB + 1, 2 * kMiB, 2 * kMiB + 1, 7 * kMiB, 63 * kMiB, uint64_t{5} << 30}) {
    Allocation* block = Take(heap, size);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(block->offset % kChunkBytes, 0u);
    for (uint64_t at = 0; at < size; at += kChunkBytes) ASSERT_EQ(heap.Find(block->offset + at), block);
    EXPECT_EQ(heap.Find(block->offset + size - 1), block);
  }
}

TEST_P(SlabHeapTest, NothingIsFoundWhereNothingWas) {
  SlabHeap heap(64 * kMiB, GetParam());
  for (uint64_t at = 0; at < 64 * kMiB; at += 4093) ASSERT_EQ(heap.Find(at), nullptr);
  Allocation* block = Take(heap, 300);
  Allocation* next = heap.Find(block->offset + 4096);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->state.load(), Allocation::State::kNever) << "cut, but never handed out";
  EXPECT_EQ(heap.Find(block->offset + kChunkBytes), nullptr);
  // The tail of a chunk is too short for another block.
  Allocation* odd = Take(heap, 600 * 1024);
  EXPECT_EQ(heap.Find((odd->offset | (kChunkBytes - 1))), nullptr);
}

TEST_P(SlabHeapTest, TombstonesTellTheirStory) {
  SlabHeap heap(64 * kMiB, GetParam());
  Allocation* block = Take(heap, 1000);
  block->allocated = Site{0x42};
  EXPECT_EQ(heap.Free(block, Site{0x99}, 17), FreeResult::kFreed);
  EXPECT_EQ(heap.Free(block, Site{0x98}, 18), FreeResult::kNotLive);
  const Allocation* found = heap.Find(block->offset + 999);
  ASSERT_EQ(found, block);
  EXPECT_EQ(found->state.load(), Allocation::State::kFreed);
  EXPECT_EQ(found->freed, Site{0x99});
  EXPECT_EQ(found->freed_thread, 17u);
  EXPECT_EQ(found->allocated, Site{0x42});
  EXPECT_EQ(found->size, 1000u);
}

TEST(SlabHeapReuseTest, WithoutRestTheLastFreedIsTheNext) {
  SlabHeap heap(64 * kMiB, false);
  Allocation *first = Take(heap, 500), *second = Take(heap, 500);
  Give(heap, first);
  Give(heap, second);
  EXPECT_EQ(Take(heap, 500), second);
  EXPECT_EQ(Take(heap, 500), first);
}

// Design row 20: 64 blocks rest, the oldest goes first.
TEST(SlabHeapReuseTest, FreedBlocksRestInTurn) {
  SlabHeap heap(256 * kMiB, true);
  std::vector<Allocation*> blocks;
  for (int i = 0; i < 67; ++i) blocks.push_back(Take(heap, 500));
  for (size_t i = 0; i < 64; ++i) Give(heap, blocks[i]);
  std::set<Allocation*> freed(blocks.begin(), blocks.begin() + 64);
  Allocation* fresh = Take(heap, 500);
  EXPECT_FALSE(freed.contains(fresh)) << "64 blocks rest";
  for (size_t i = 64; i < 67; ++i) Give(heap, blocks[i]);  // blocks 0, 1, 2 are pushed out
  std::set<Allocation*> next{Take(heap, 500), Take(heap, 500), Take(heap, 500)};
  EXPECT_EQ(next, (std::set<Allocation*>{blocks[0], blocks[1], blocks[2]}));
  Allocation* after = Take(heap, 500);
  EXPECT_FALSE(std::set<Allocation*>(blocks.begin(), blocks.end()).contains(after));
}

TEST(SlabHeapReuseTest, RestIsLimitedByBytesToo) {
  SlabHeap heap(uint64_t{1} << 34, true);
  std::vector<Allocation*> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(Take(heap, 16 * kMiB));
  for (size_t i = 0; i < 4; ++i) Give(heap, blocks[i]);
  Allocation* fresh = Take(heap, 16 * kMiB);
  EXPECT_FALSE(std::set<Allocation*>(blocks.begin(), blocks.end()).contains(fresh)) << "64 MiB rest";
  Give(heap, blocks[4]);
  EXPECT_EQ(Take(heap, 16 * kMiB), blocks[0]);
  Allocation* big = Take(heap, 128 * kMiB);
  Give(heap, big);
  EXPECT_EQ(Take(heap, 128 * kMiB), big) << "more than rests at all";
}

TEST(SlabHeapReuseTest, ClassesRestSeparately) {
  SlabHeap heap(256 * kMiB, true);
  Allocation* small = Take(heap, 256);
  Give(heap, small);
  for (int i = 0; i < 100; ++i) Give(heap, Take(heap, 5000));
  EXPECT_NE(Take(heap, 256), small);
  EXPECT_EQ(heap.Find(small->offset)->state.load(), Allocation::State::kFreed);
}

TEST_P(SlabHeapTest, UsesTheWholeRangeAndThenRefuses) {
  SlabHeap heap(32 * kMiB, GetParam());
  EXPECT_EQ(heap.Allocate(32 * kMiB + 1), nullptr);
  EXPECT_EQ(heap.Allocate(~uint64_t{0}), nullptr);
  std::vector<Allocation*> blocks;
  while (Allocation* block = Take(heap, kMiB)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), 32u);
  EXPECT_EQ(Take(heap, 1), nullptr);
  Give(heap, blocks[5]);
  EXPECT_NE(Take(heap, kMiB), nullptr) << "what rests is the last resort";
}

TEST_P(SlabHeapTest, FreeRunsAreJoined) {
  SlabHeap heap(32 * kMiB, GetParam());
  std::vector<Allocation*> blocks;
  while (Allocation* block = Take(heap, 2 * kMiB)) blocks.push_back(block);
  ASSERT_EQ(blocks.size(), 16u);
  for (size_t i = 0; i < 16; i += 2) Give(heap, blocks[i]);
  EXPECT_EQ(Take(heap, 4 * kMiB), nullptr) << "no two neighbours are free";
  Give(heap, blocks[5]);
  Allocation* joined = Take(heap, 6 * kMiB);
  ASSERT_NE(joined, nullptr);
  EXPECT_EQ(joined->offset, blocks[4]->offset);
  EXPECT_EQ(heap.Find(joined->offset + 3 * kMiB), joined) << "the table forgot the old blocks";
  EXPECT_EQ(Take(heap, 4 * kMiB), nullptr);
}

TEST_P(SlabHeapTest, ChunksOfSmallBlocksAreJoined) {
  SlabHeap heap(16 * kMiB, GetParam());
  std::vector<Allocation*> blocks;
  while (Allocation* block = Take(heap, 4096)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), 4096u);
  for (Allocation* block : blocks) Give(heap, block);
  Allocation* whole = Take(heap, heap.longest_run());
  ASSERT_NE(whole, nullptr) << "every chunk is idle";
  Give(heap, whole);
  EXPECT_NE(Take(heap, 100), nullptr);
}

TEST_P(SlabHeapTest, AFreedRunJoinsWhatWasNeverUsed) {
  SlabHeap heap(32 * kMiB, GetParam());
  Give(heap, Take(heap, 16 * kMiB));
  EXPECT_EQ(Take(heap, 32 * kMiB), nullptr) << "the first chunk is in no run";
  Allocation* whole = Take(heap, 30 * kMiB);
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->offset, kChunkBytes);
  EXPECT_NE(Take(heap, 2 * kMiB), nullptr) << "the first chunk is a block of its own";
}

TEST_P(SlabHeapTest, RecutBlocksMayBeDirtyAndFreshOnesAreNot) {
  SlabHeap heap(8 * kMiB, GetParam());
  std::vector<Allocation*> blocks;
  while (Allocation* block = Take(heap, 2 * kMiB)) blocks.push_back(block);
  for (Allocation* block : blocks) {
    EXPECT_GE(block->dirty_lo, block->dirty_hi);
    Give(heap, block);
  }
  Allocation* recut = Take(heap, 6 * kMiB);
  ASSERT_NE(recut, nullptr);
  EXPECT_EQ(recut->dirty_lo, 0u);
  EXPECT_GE(recut->dirty_hi, 6 * kMiB);
}

// After any history a request that fits into the longest run of idle chunks succeeds.
TEST_P(SlabHeapTest, WhatFitsIntoARunSucceeds) {
  constexpr uint64_t kBytes = 64 * kMiB;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SlabHeap heap(kBytes, GetParam());
    std::mt19937_64 random(seed);
    Model model;
    std::vector<Allocation*> live;
    for (int round = 0; round < 12; ++round) {
      for (int step = 0; step < 60; ++step) {
        Allocation* allocation = Take(heap, RandomSize(random) % (8 * kMiB) + 1);
        if (allocation == nullptr) continue;
        model.Add(*allocation, kBytes);
        live.push_back(allocation);
      }
      size_t keep = random() % 12;
      while (live.size() > keep) {
        std::swap(live[random() % live.size()], live.back());
        model.Remove(*live.back());
        Give(heap, live.back());
        live.pop_back();
      }
      uint64_t run = model.LongestRun(kBytes);
      if (run == 0) continue;
      Allocation* allocation = Take(heap, BlockWithin(run) << kChunkShift);
      ASSERT_NE(allocation, nullptr) << "seed " << seed << " round " << round << ": a run of " << run
                                     << " chunks";
      model.Add(*allocation, kBytes);
      live.push_back(allocation);
    }
    if (HasFailure()) return;
  }
}

TEST_P(SlabHeapTest, APinnedBlockWaitsForItsTasks) {
  SlabHeap heap(4 * kMiB, GetParam());
  Allocation* block = Take(heap, 2 * kMiB);
  SlabHeap::Pin(block);
  SlabHeap::Pin(block);
  EXPECT_EQ(Give(heap, block), FreeResult::kInUse);
  EXPECT_EQ(Give(heap, block), FreeResult::kNotLive);
  Allocation* other = Take(heap, 2 * kMiB);
  ASSERT_NE(other, nullptr);
  EXPECT_NE(other, block);
  EXPECT_EQ(Take(heap, 2 * kMiB), nullptr) << "its chunk is still in use";
  heap.Unpin(block);
  EXPECT_EQ(Take(heap, 2 * kMiB), nullptr);
  heap.Unpin(block);
  Allocation* again = Take(heap, 2 * kMiB);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->offset, block->offset);
}

TEST_P(SlabHeapTest, ChunksOfPinnedBlocksAreNotJoinedNorIdle) {
  SlabHeap heap(6 * kMiB, GetParam());
  ASSERT_NE(Take(heap, 100), nullptr);  // in the first chunk
  Allocation *first = Take(heap, 2 * kMiB), *second = Take(heap, 2 * kMiB);
  SlabHeap::Pin(first);
  Give(heap, first);
  Give(heap, second);
  ASSERT_EQ(Take(heap, 4 * kMiB), nullptr);
  uint64_t idle = 0;
  heap.ForEachIdle([&](uint64_t, uint64_t bytes) { idle += bytes; });
  EXPECT_EQ(idle, 2 * kMiB);
  heap.Unpin(first);
  EXPECT_NE(Take(heap, 4 * kMiB), nullptr);
}

TEST_P(SlabHeapTest, UnpinningALiveBlockKeepsIt) {
  SlabHeap heap(4 * kMiB, GetParam());
  Allocation* block = Take(heap, 100);
  SlabHeap::Pin(block);
  heap.Unpin(block);
  EXPECT_TRUE(block->live());
  EXPECT_EQ(LiveBlocks(heap), 1u);
  EXPECT_EQ(Give(heap, block), FreeResult::kFreed);
}

// Everything that was used and is not live now, however it was cut since.
TEST_P(SlabHeapTest, IdleChunksAreVisited) {
  SlabHeap heap(32 * kMiB, GetParam());
  std::vector<Allocation*> blocks;
  while (Allocation* block = Take(heap, 2 * kMiB)) blocks.push_back(block);
  for (Allocation* block : blocks) Give(heap, block);
  auto idle = [&] {
    uint64_t sum = 0;
    heap.ForEachIdle([&](uint64_t, uint64_t bytes) { sum += bytes; });
    return sum;
  };
  EXPECT_EQ(idle(), 32 * kMiB);
  Allocation* joined = Take(heap, 8 * kMiB);
  ASSERT_NE(joined, nullptr);
  EXPECT_EQ(idle(), 24 * kMiB);
  Give(heap, joined);
  EXPECT_EQ(idle(), 32 * kMiB);
}

// One thread pins and unpins, one frees: the block comes back exactly once.
TEST_P(SlabHeapTest, FreeAndUnpinRace) {
  SlabHeap heap(2 * kMiB, GetParam());
  for (int round = 0; round < 3000; ++round) {
    Allocation* block = Take(heap, 2 * kMiB);
    ASSERT_NE(block, nullptr) << round;
    SlabHeap::Pin(block);
    std::atomic<bool> go{false};
    if (round % 30 == 0) {
      std::thread other([&] {
        while (!go.load()) {
        }
        heap.Unpin(block);
      });
      go.store(true);
      EXPECT_NE(Give(heap, block), FreeResult::kNotLive);
      other.join();
    } else {
      EXPECT_EQ(Give(heap, block), FreeResult::kInUse);
      heap.Unpin(block);
    }
    ASSERT_EQ(LiveBlocks(heap), 0u);
  }
}

TEST_P(SlabHeapTest, ThreadsShareTheHeap) {
  SlabHeap heap(256 * kMiB, GetParam());
  auto work = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Allocation*> live;
    for (int step = 0; step < 3000; ++step) {
      if (live.size() < 20 && random() % 2 == 0) {
        Allocation* allocation = Take(heap, RandomSize(random) % (4 * kMiB) + 1);
        if (allocation != nullptr) live.push_back(allocation);
      } else if (!live.empty()) {
        Allocation* allocation = live.back();
        live.pop_back();
        ASSERT_EQ(heap.Find(allocation->offset), allocation);
        ASSERT_EQ(heap.Find(allocation->offset + allocation->size - 1), allocation);
        ASSERT_EQ(Give(heap, allocation), FreeResult::kFreed);
      }
    }
    for (Allocation* allocation : live) Give(heap, allocation);
  };
  std::thread other(work, 1);
  work(2);
  other.join();
  EXPECT_EQ(LiveBlocks(heap), 0u);
  EXPECT_NE(Take(heap, heap.longest_run()), nullptr);
}

}  // namespace
}  // namespace belay::memory
