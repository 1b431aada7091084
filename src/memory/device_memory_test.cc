#include "memory/device_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "os/census_test.h"

namespace belay::memory {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;
constexpr uint32_t kNormalOnly = MallocPolicy::kNormalOnly;

// One device of 64 MiB in a range of 64 MiB, so that addresses are used again soon.
class DeviceMemoryTest : public os::LeavesNothing, public testing::WithParamInterface<bool> {
 protected:
  DeviceMemoryTest() { Build(64 * kMiB, 256 * kMiB); }
  ~DeviceMemoryTest() override {
    if (memory_ == nullptr) return;
    memory_->ReleaseAll(Site{}, 0);
    int live = 0;
    memory_->ForEachLive([&](Allocation&) { ++live; });
    EXPECT_EQ(live, 0);
    EXPECT_EQ(books_->used_bytes(0), 0u);
  }

  void Build(uint64_t capacity, uint64_t budget, int devices = 1) {
    memory_.reset();
    space_ = std::make_unique<AddressSpace>();
    ASSERT_TRUE(space_->Reserve(devices, 16 * kMiB));
    Books::Limits limits;
    limits.devices = devices;
    limits.capacity = capacity;
    books_ = std::make_unique<Books>(limits);
    physical_ = std::make_unique<PhysicalMemory>(budget);
    memory_ = std::make_unique<DeviceMemory>(0, *space_, *books_, *physical_, GetParam());
  }

  Allocation* Allocate(uint64_t size, uint32_t policy = kNormalOnly) {
    DeviceMemory::Request request;
    request.size = size;
    request.policy = policy;
    return memory_->Allocate(request, &shortage_);
  }
  void Free(Allocation* block) { EXPECT_NE(memory_->Free(block, Site{}, 0), SlabHeap::FreeResult::kNotLive); }
  bool Write(Allocation* block, uint64_t at, uint64_t bytes, int value) {
    if (!memory_->PrepareWrite(*block, at, bytes, false)) return false;
    memset(memory_->EngineStart(*block) + at, value, bytes);
    return true;
  }
  bool ReadsAs(Allocation* block, uint64_t at, uint64_t bytes, uint8_t value) {
    memory_->PrepareRead(*block, at, bytes);
    const uint8_t* start = memory_->EngineStart(*block) + at;
    return *start == value && memcmp(start, start + 1, bytes - 1) == 0;
  }

  std::unique_ptr<AddressSpace> space_;
  std::unique_ptr<Books> books_;
  std::unique_ptr<PhysicalMemory> physical_;
  std::unique_ptr<DeviceMemory> memory_;
  DeviceMemory::Shortage shortage_ = DeviceMemory::Shortage::kNone;
};
INSTANTIATE_TEST_SUITE_P(, DeviceMemoryTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "FreedBlocksRest" : "ReusedAtOnce"; });

TEST_P(DeviceMemoryTest, BlocksHaveWindowAddressesAndEngineBytes) {
  Allocation* block = Allocate(1000);
  ASSERT_NE(block, nullptr);
  uintptr_t user = memory_->UserAddress(*block);
  EXPECT_EQ(user % 64, 0u);
  EXPECT_EQ(space_->Classify(user), AddressSpace::Region::kDevice);
  EXPECT_EQ(memory_->EngineStart(*block), memory_->EngineAddress(user));
  EXPECT_EQ(memory_->Find(user), block);
  EXPECT_EQ(memory_->Find(user + 999), block);
  EXPECT_EQ(block->size, 1000u);
  EXPECT_EQ(block->extent, 1000u);
  EXPECT_EQ(block->charged, 4096u);
}

TEST_P(DeviceMemoryTest, ChargesWhatThePolicyAsksFor) {
  Allocation* huge = Allocate(2 * kMiB, MallocPolicy::kHugeFirst);
  EXPECT_EQ(huge->charged, 4 * kMiB) << "the 32 bytes more take another page";
  EXPECT_EQ(books_->used_bytes(0), 4 * kMiB);
  Allocation* small = Allocate(100, MallocPolicy::kHugeOnly);
  EXPECT_EQ(small->charged, 2 * kMiB);
  EXPECT_EQ(small->pages, PageSize::kHuge);
  Free(huge);
  EXPECT_EQ(books_->used_bytes(0), 2 * kMiB);
  Free(small);
  EXPECT_EQ(books_->used_bytes(0), 0u);
}

TEST_P(DeviceMemoryTest, AlignedBlocksAreTighter) {
  DeviceMemory::Request request;
  request.size = 2 * kMiB;
  request.policy = MallocPolicy::kHugeFirst;
  request.align32 = true;
  Allocation* block = memory_->Allocate(request, &shortage_);
  EXPECT_EQ(block->charged, 2 * kMiB);
  request.size = 33;
  Allocation* odd = memory_->Allocate(request, &shortage_);
  EXPECT_EQ(odd->extent, 64u) << "SPEC 30 §2.2: the guard starts after the rounded size";
}

TEST_P(DeviceMemoryTest, HugeFirstFallsBackToNormalPages) {
  Build(16 * kMiB, 64 * kMiB);
  ASSERT_NE(Allocate(4096), nullptr) << "splits one of eight pages";
  ASSERT_NE(Allocate(14 * kMiB - 64, MallocPolicy::kHugeOnly), nullptr);
  EXPECT_EQ(Allocate(kMiB + 1, MallocPolicy::kHugeOnly), nullptr);
  EXPECT_EQ(shortage_, DeviceMemory::Shortage::kCapacity);
  Allocation* fallen = Allocate(kMiB + 1, MallocPolicy::kHugeFirst);
  ASSERT_NE(fallen, nullptr);
  EXPECT_EQ(fallen->pages, PageSize::kNormal);
}

TEST_P(DeviceMemoryTest, RefusalsChangeNothing) {
  EXPECT_EQ(Allocate(65 * kMiB), nullptr);
  EXPECT_EQ(Allocate(~uint64_t{0}), nullptr);
  EXPECT_EQ(shortage_, DeviceMemory::Shortage::kCapacity);
  EXPECT_EQ(books_->used_bytes(0), 0u);
  Build(128 * kMiB, 256 * kMiB);
  EXPECT_EQ(Allocate(100 * kMiB), nullptr);
  EXPECT_EQ(shortage_, DeviceMemory::Shortage::kAddressSpace) << "the share is smaller than the card";
  EXPECT_EQ(books_->used_bytes(0), 0u);
}

TEST_P(DeviceMemoryTest, UnwrittenBytesReadAsZeroAndCommitNothing) {
  Allocation* block = Allocate(48 * kMiB);
  EXPECT_TRUE(ReadsAs(block, 0, 1, 0));
  EXPECT_TRUE(ReadsAs(block, 47 * kMiB, kMiB, 0));
  EXPECT_EQ(physical_->used_bytes(), 0u);
}

TEST_P(DeviceMemoryTest, TheNextTenantDoesNotSeeTheLast) {
  std::vector<Allocation*> blocks;
  for (int round = 0; round < 3; ++round) {
    while (Allocation* block = Allocate(3 * kMiB)) {
      ASSERT_TRUE(ReadsAs(block, kMiB, 100, 0)) << round;
      ASSERT_TRUE(Write(block, 2 * kMiB + 5, 1000, 0xee));
      EXPECT_TRUE(ReadsAs(block, kMiB, kMiB + 5, 0));
      EXPECT_TRUE(ReadsAs(block, 2 * kMiB + 1005, kMiB - 1005, 0));
      EXPECT_TRUE(ReadsAs(block, 0, kMiB, 0));
      ASSERT_TRUE(Write(block, 0, 3 * kMiB, 0xdd));
      blocks.push_back(block);
    }
    for (Allocation* block : blocks) Free(block);
    blocks.clear();
  }
  Allocation* recut = Allocate(40 * kMiB);
  ASSERT_NE(recut, nullptr);
  EXPECT_TRUE(ReadsAs(recut, 0, 40 * kMiB, 0));
}

TEST_P(DeviceMemoryTest, WritesWithGapsLeaveZeroesBetween) {
  for (int round = 0; round < 200; ++round) {
    Allocation* block = Allocate(8192);
    ASSERT_TRUE(memory_->PrepareWrite(*block, 100, 4096 + 10, true));
    for (uint64_t row = 100; row <= 100 + 4096; row += 1024)
      memset(memory_->EngineStart(*block) + row, 0xff, 10);
    EXPECT_TRUE(ReadsAs(block, 110, 1014, 0));
    EXPECT_TRUE(ReadsAs(block, 100 + 1024, 10, 0xff));
    ASSERT_TRUE(Write(block, 0, 8192, 0xaa));
    Free(block);
  }
}

// A block and its bytes as they must read.
struct Tenant {
  Allocation* block;
  std::vector<uint8_t> bytes;
};

TEST_P(DeviceMemoryTest, RandomWritesReadBackAsAModelSays) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    Build(64 * kMiB, 256 * kMiB);
    std::mt19937_64 random(seed);
    std::vector<Tenant> live;
    for (int step = 0; step < 1200 && !HasFailure(); ++step) {
      if (live.size() < 12 && random() % 3 == 0) {
        uint64_t size = random() % 3 == 0 ? random() % (6 * kMiB) + 1 : 64 + random() % (64 << random() % 10);
        Allocation* block = Allocate(size);
        if (block != nullptr) live.push_back({block, std::vector<uint8_t>(size)});
        continue;
      }
      if (live.empty()) continue;
      std::swap(live[random() % live.size()], live.back());
      auto& [block, bytes] = live.back();
      uint64_t at = random() % bytes.size(), count = 1 + random() % (bytes.size() - at);
      if (random() % 2 == 0) count = 1 + (count - 1) % 300;
      auto value = static_cast<uint8_t>(1 + random() % 255);
      switch (random() % 8) {
        case 0:
          Free(block);
          live.pop_back();
          break;
        case 1:
        case 2: {  // rows with gaps
          uint64_t width = 1 + random() % 64, pitch = width + random() % 200, rows = 1 + random() % 40;
          uint64_t extent = (rows - 1) * pitch + width;
          if (at + extent > bytes.size()) break;
          ASSERT_TRUE(memory_->PrepareWrite(*block, at, extent, true));
          for (uint64_t row = 0; row < rows; ++row) {
            memset(memory_->EngineStart(*block) + at + row * pitch, value, width);
            memset(&bytes[at + row * pitch], value, width);
          }
          break;
        }
        case 3:
        case 4:
        case 5:
          ASSERT_TRUE(Write(block, at, count, value));
          memset(&bytes[at], value, count);
          break;
        default:
          memory_->PrepareRead(*block, at, count);
          ASSERT_EQ(memcmp(memory_->EngineStart(*block) + at, &bytes[at], count), 0)
              << "seed " << seed << " step " << step << ": " << count << " bytes at " << at << " of "
              << bytes.size();
      }
      // Idle chunks may go at any time.
      if (random() % 64 == 0) physical_->Reclaim();
    }
    for (auto& [block, bytes] : live) {
      memory_->PrepareRead(*block, 0, bytes.size());
      ASSERT_EQ(memcmp(memory_->EngineStart(*block), bytes.data(), bytes.size()), 0) << "seed " << seed;
      Free(block);
    }
  }
}

TEST_P(DeviceMemoryTest, TheBudgetCountsChunksAtTheFirstWrite) {
  Allocation* block = Allocate(20 * kMiB);
  EXPECT_EQ(physical_->used_bytes(), 0u);
  ASSERT_TRUE(Write(block, 100, 1, 1));
  EXPECT_EQ(physical_->used_bytes(), 2 * kMiB) << "one byte commits a huge page";
  ASSERT_TRUE(Write(block, 0, 2 * kMiB, 1));
  EXPECT_EQ(physical_->used_bytes(), 2 * kMiB);
  ASSERT_TRUE(Write(block, 8 * kMiB - 1, 2, 1));
  EXPECT_EQ(physical_->used_bytes(), 6 * kMiB);
  ASSERT_TRUE(Write(block, 0, 20 * kMiB, 1));
  EXPECT_EQ(physical_->used_bytes(), 20 * kMiB);
}

TEST_P(DeviceMemoryTest, ARefusedWriteChangesNothing) {
  Build(64 * kMiB, 8 * kMiB);
  Allocation *block = Allocate(20 * kMiB), *other = Allocate(4 * kMiB);
  ASSERT_TRUE(Write(block, 2 * kMiB, 2 * kMiB, 5));
  ASSERT_TRUE(Write(block, 5 * kMiB, 10, 6));
  EXPECT_EQ(physical_->used_bytes(), 4 * kMiB);
  EXPECT_FALSE(memory_->PrepareWrite(*block, 0, 20 * kMiB, false));
  EXPECT_FALSE(memory_->PrepareWrite(*block, 6 * kMiB, 6 * kMiB, true));
  EXPECT_EQ(physical_->used_bytes(), 4 * kMiB);
  EXPECT_TRUE(ReadsAs(block, 2 * kMiB, 2 * kMiB, 5));
  EXPECT_TRUE(ReadsAs(block, 5 * kMiB, 10, 6));
  EXPECT_TRUE(ReadsAs(block, 4 * kMiB, kMiB, 0));
  EXPECT_TRUE(ReadsAs(block, 5 * kMiB + 10, kMiB, 0));
  EXPECT_TRUE(Write(other, 0, 4 * kMiB, 7)) << "what is left can be used";
  EXPECT_FALSE(Write(block, 0, 1, 1));
  EXPECT_TRUE(Write(block, 3 * kMiB, kMiB, 8)) << "committed chunks stay writable";
  EXPECT_TRUE(ReadsAs(block, 19 * kMiB, kMiB, 0)) << "reading needs no budget";
}

TEST_P(DeviceMemoryTest, IdleChunksAreTakenBackWhenTheBudgetIsShort) {
  Build(64 * kMiB, 8 * kMiB);
  Allocation *first = Allocate(6 * kMiB - 32), *second = Allocate(7 * kMiB);
  ASSERT_TRUE(Write(first, 0, 6 * kMiB - 32, 1));
  EXPECT_FALSE(Write(second, 0, 7 * kMiB, 2));
  Free(first);
  EXPECT_EQ(physical_->used_bytes(), 6 * kMiB) << "chunks stay warm";
  EXPECT_TRUE(Write(second, 0, 7 * kMiB, 2));
  EXPECT_EQ(physical_->used_bytes(), 8 * kMiB);
  EXPECT_TRUE(ReadsAs(second, 0, 7 * kMiB, 2));
}

TEST_P(DeviceMemoryTest, AChunkSharedWithALiveBlockStays) {
  Build(64 * kMiB, 2 * kMiB);
  Allocation *small = Allocate(1000), *neighbour = Allocate(1000), *large = Allocate(3 * kMiB);
  ASSERT_TRUE(Write(small, 0, 1000, 1));
  ASSERT_TRUE(Write(neighbour, 0, 1000, 2));
  EXPECT_EQ(physical_->used_bytes(), 2 * kMiB);
  Free(small);
  EXPECT_FALSE(Write(large, 0, 1, 3));
  EXPECT_TRUE(ReadsAs(neighbour, 0, 1000, 2));
  Free(neighbour);
  EXPECT_TRUE(Write(large, 0, 1, 3));
}

TEST_P(DeviceMemoryTest, ChunksOfABlockInUseStay) {
  Build(64 * kMiB, 4 * kMiB);
  Allocation* block = Allocate(2 * kMiB - 32);
  ASSERT_TRUE(Write(block, 0, 100, 1));
  SlabHeap::Pin(block);
  Free(block);
  EXPECT_EQ(books_->used_bytes(0), 0u);
  physical_->Reclaim();
  EXPECT_EQ(physical_->used_bytes(), 2 * kMiB);
  EXPECT_EQ(memory_->EngineStart(*block)[99], 1) << "the task still finds its bytes";
  memory_->Unpin(block);
  physical_->Reclaim();
  EXPECT_EQ(physical_->used_bytes(), 0u);
}

TEST_P(DeviceMemoryTest, ChunksThatWereJoinedAreTakenBackToo) {
  Build(64 * kMiB, 64 * kMiB, 2);
  DeviceMemory second(1, *space_, *books_, *physical_, GetParam());
  std::vector<Allocation*> blocks;
  while (Allocation* block = Allocate(2 * kMiB - 32)) {
    ASSERT_TRUE(Write(block, 0, 2 * kMiB - 32, 9));
    blocks.push_back(block);
  }
  ASSERT_EQ(physical_->used_bytes(), 64 * kMiB);
  for (Allocation* block : blocks) Free(block);
  Allocation* joined = Allocate(8 * kMiB - 32);
  ASSERT_NE(joined, nullptr);
  ASSERT_TRUE(Write(joined, 0, 8 * kMiB - 32, 1));
  DeviceMemory::Request request;
  request.size = 50 * kMiB;
  Allocation* elsewhere = second.Allocate(request, &shortage_);
  ASSERT_NE(elsewhere, nullptr);
  EXPECT_TRUE(second.PrepareWrite(*elsewhere, 0, 50 * kMiB, false)) << "56 MiB of the first device are idle";
  EXPECT_TRUE(ReadsAs(joined, 0, 8 * kMiB - 32, 1));
  second.Free(elsewhere, Site{}, 0);
}

TEST_P(DeviceMemoryTest, AnEmptyRangeNeedsNothing) {
  Allocation* block = Allocate(100);
  EXPECT_EQ(block->offset, 0u);
  EXPECT_TRUE(memory_->PrepareWrite(*block, 0, 0, false));
  EXPECT_TRUE(memory_->PrepareWrite(*block, 50, 0, true));
  memory_->PrepareRead(*block, 70, 0);
  EXPECT_EQ(physical_->used_bytes(), 0u);
  ASSERT_TRUE(Write(block, 60, 10, 1));
  EXPECT_TRUE(ReadsAs(block, 0, 60, 0));
}

TEST_P(DeviceMemoryTest, ResetTakesEveryBlock) {
  Allocation *first = Allocate(100), *second = Allocate(10 * kMiB);
  SlabHeap::Pin(second);
  memory_->ReleaseAll(Site{0x77}, 9);
  for (Allocation* block : {first, second}) {
    EXPECT_FALSE(block->live());
    EXPECT_TRUE(block->by_reset);
    EXPECT_EQ(block->freed, Site{0x77});
  }
  EXPECT_EQ(books_->used_bytes(0), 0u);
  memory_->Unpin(second);
}

// Streams of a program may write disjoint parts of one block at once; zeroing for one must not hit the other.
TEST_P(DeviceMemoryTest, ThreadsWritePartsOfARecycledBlock) {
  constexpr uint64_t kSize = 64 * 1024, kPart = 256;
  for (int round = 0; round < 60; ++round) {
    Allocation* block = Allocate(kSize);
    auto work = [&](uint64_t parity) {
      std::mt19937 random(static_cast<uint32_t>(round) * 2 + static_cast<uint32_t>(parity));
      std::vector<uint64_t> parts;
      for (uint64_t part = parity; part < kSize / kPart; part += 2) parts.push_back(part);
      std::shuffle(parts.begin(), parts.end(), random);
      for (uint64_t part : parts) {
        ASSERT_TRUE(Write(block, part * kPart, kPart, static_cast<int>(parity + 1)));
      }
      for (uint64_t part : parts) {
        ASSERT_TRUE(ReadsAs(block, part * kPart, kPart, static_cast<uint8_t>(parity + 1)));
      }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    ASSERT_TRUE(Write(block, 0, kSize, 0xff));
    Free(block);
  }
}

class BigMachineTest : public os::LeavesNothing {};

TEST_F(BigMachineTest, EightCardsOf64GibFitIntoALaptop) {
  AddressSpace space;
  ASSERT_TRUE(space.Reserve(8, 64 * kGiB));
  Books::Limits limits;
  limits.devices = 8;
  limits.capacity = 64 * kGiB;
  Books books(limits);
  PhysicalMemory physical(64 * kMiB);
  std::vector<std::unique_ptr<DeviceMemory>> devices;
  std::vector<Allocation*> blocks;
  DeviceMemory::Shortage shortage;
  for (int device = 0; device < 8; ++device) {
    devices.push_back(std::make_unique<DeviceMemory>(device, space, books, physical, true));
    DeviceMemory::Request request;
    request.size = 60 * kGiB;
    request.align32 = true;
    blocks.push_back(devices.back()->Allocate(request, &shortage));
    ASSERT_NE(blocks.back(), nullptr) << device;
  }
  for (size_t i = 0; i < 8; ++i) {
    for (uint64_t at : {uint64_t{0}, 31 * kGiB, 60 * kGiB - kMiB}) {
      ASSERT_TRUE(devices[i]->PrepareWrite(*blocks[i], at, kMiB, false)) << i;
      memset(devices[i]->EngineStart(*blocks[i]) + at, static_cast<int>(i + 1), kMiB);
    }
  }
  EXPECT_EQ(physical.used_bytes(), 48 * kMiB);
  for (size_t i = 0; i < 8; ++i) {
    uint8_t* bytes = devices[i]->EngineStart(*blocks[i]);
    devices[i]->PrepareRead(*blocks[i], 0, 60 * kGiB);
    EXPECT_EQ(bytes[31 * kGiB + kMiB - 1], i + 1);
    EXPECT_EQ(bytes[60 * kGiB - 1], i + 1);
    EXPECT_EQ(bytes[31 * kGiB - 1], 0);
    EXPECT_EQ(bytes[45 * kGiB], 0);
  }
  EXPECT_EQ(physical.used_bytes(), 48 * kMiB);
  EXPECT_FALSE(devices[0]->PrepareWrite(*blocks[0], 10 * kGiB, 18 * kMiB, false));
  for (size_t i = 0; i < 8; ++i) devices[i]->Free(blocks[i], Site{}, 0);
  EXPECT_LE(physical.used_bytes(), 32 * kMiB) << "large blocks go back above half the budget";
}

}  // namespace
}  // namespace belay::memory
