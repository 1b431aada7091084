#include "memory/host_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "os/census_test.h"

namespace belay::memory {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kPage = 4096;
using Registration = HostMemory::Registration;
using RegisterResult = HostMemory::RegisterResult;

class HostMemoryTest : public os::LeavesNothing {
 protected:
  HostMemoryTest() {
    EXPECT_TRUE(space_.Reserve(1, 16 * kMiB));
    host_ = std::make_unique<HostMemory>(space_, true, 0);
  }
  ~HostMemoryTest() override {
    int live = 0;
    host_->ForEachLive([&](Allocation&) { ++live; });
    EXPECT_EQ(live, 0);
    EXPECT_EQ(host_->pinned_bytes(), 0u);
  }

  Allocation* Allocate(uint64_t bytes) { return host_->Allocate(bytes, false, Site{}, 0); }
  void Free(Allocation* block) { EXPECT_NE(host_->Free(block, Site{}, 0), SlabHeap::FreeResult::kNotLive); }
  uint8_t* Bytes(Allocation* block) { return reinterpret_cast<uint8_t*>(host_->Address(*block)); }

  RegisterResult Register(uintptr_t start, uint64_t bytes, bool alias_is_address = false, int device = 0) {
    last_ = {};
    last_.start = start;
    last_.bytes = bytes;
    last_.device = device;
    return host_->Register(&last_, alias_is_address, &other_);
  }

  AddressSpace space_;
  std::unique_ptr<HostMemory> host_;
  Registration last_, other_;
};

TEST_F(HostMemoryTest, PinnedBlocksAreOrdinaryMemoryOnPageStarts) {
  std::vector<Allocation*> blocks;
  for (uint64_t bytes = 1; bytes <= 80 * kPage; bytes += 1999) {
    Allocation* block = Allocate(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(host_->Address(*block) % kPage, 0u) << bytes << ": SPEC 30 §3.1, registration asks for it";
    memset(Bytes(block), static_cast<int>(bytes), bytes);
    EXPECT_EQ(host_->Find(host_->Address(*block) + bytes - 1), block);
    blocks.push_back(block);
  }
  for (Allocation* block : blocks) {
    EXPECT_EQ(Bytes(block)[0], static_cast<uint8_t>(block->size));
    EXPECT_EQ(Bytes(block)[block->size - 1], static_cast<uint8_t>(block->size));
    Free(block);
  }
}

TEST_F(HostMemoryTest, PinnedRangesAreThoseInsideALiveBlock) {
  Allocation* block = Allocate(5000);
  uintptr_t start = host_->Address(*block);
  EXPECT_TRUE(host_->IsPinned(start, 5000));
  EXPECT_TRUE(host_->IsPinned(start + 4999, 1));
  EXPECT_TRUE(host_->IsPinned(start + 100, 0));
  EXPECT_FALSE(host_->IsPinned(start, 5001));
  EXPECT_FALSE(host_->IsPinned(start + 4999, 2));
  EXPECT_FALSE(host_->IsPinned(start + 5001, 1)) << "the padding";
  EXPECT_FALSE(host_->IsPinned(start + 1, ~uint64_t{0})) << "a length that wraps around";
  EXPECT_FALSE(host_->IsPinned(start + 100, ~uint64_t{0} - 50));
  EXPECT_FALSE(host_->IsPinned(reinterpret_cast<uintptr_t>(this), 1));
  Free(block);
  EXPECT_FALSE(host_->IsPinned(start, 1));
}

TEST_F(HostMemoryTest, TheLimitCountsWholePages) {
  host_ = std::make_unique<HostMemory>(space_, false, 4 * kPage);
  Allocation *first = Allocate(1), *second = Allocate(3 * kPage);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(host_->pinned_bytes(), 4 * kPage);
  EXPECT_EQ(Allocate(1), nullptr);
  EXPECT_EQ(host_->pinned_bytes(), 4 * kPage) << "a refusal changes nothing";
  Free(first);
  Allocation* third = Allocate(kPage);
  EXPECT_NE(third, nullptr);
  Free(second);
  Free(third);
}

TEST_F(HostMemoryTest, AbsurdSizesAreRefused) {
  EXPECT_EQ(Allocate(~uint64_t{0}), nullptr);
  EXPECT_EQ(Allocate(~uint64_t{0} - kPage), nullptr);
  EXPECT_EQ(Allocate(space_.pinned().bytes + 1), nullptr);
}

TEST_F(HostMemoryTest, BlocksInUseKeepTheirBytes) {
  Allocation* block = Allocate(128 * kMiB);  // large: pages go back to the system at the free
  memset(Bytes(block), 9, 100);
  SlabHeap::Pin(block);
  EXPECT_EQ(host_->Free(block, Site{}, 0), SlabHeap::FreeResult::kInUse);
  EXPECT_EQ(Bytes(block)[99], 9);
  EXPECT_EQ(host_->Free(block, Site{}, 0), SlabHeap::FreeResult::kNotLive);
  host_->Unpin(block);
  Allocation* again = Allocate(128 * kMiB);
  EXPECT_EQ(again, block);
  Free(again);
  EXPECT_EQ(Bytes(block)[99], 0) << "given back";
}

TEST_F(HostMemoryTest, RegistrationsHaveAliasesInTheAliasRegion) {
  ASSERT_EQ(Register(0x10000, 10'000), RegisterResult::kRegistered);
  Registration first = last_;
  ASSERT_EQ(Register(0x20000, 1), RegisterResult::kRegistered);
  Registration second = last_;
  for (const Registration& made : {first, second}) {
    EXPECT_TRUE(space_.alias().Holds(made.alias));
    EXPECT_EQ(made.alias % kPage, 0u);
    Registration found;
    ASSERT_TRUE(host_->FindAlias(made.alias + made.bytes - 1, &found));
    EXPECT_EQ(found.start, made.start);
    EXPECT_FALSE(host_->FindAlias(made.alias + made.bytes, &found));
  }
  EXPECT_GE(second.alias, first.alias + 3 * kPage);
  host_->UnregisterAll(-1);
}

TEST_F(HostMemoryTest, AVaFlagMakesTheAliasTheAddress) {
  Allocation* block = Allocate(8192);
  ASSERT_EQ(Register(host_->Address(*block), 8192, true), RegisterResult::kRegistered);
  EXPECT_EQ(last_.alias, host_->Address(*block));
  Registration found;
  EXPECT_TRUE(host_->FindAlias(last_.alias + 5000, &found));
  ASSERT_EQ(Register(0x10000, kPage), RegisterResult::kRegistered);
  EXPECT_EQ(last_.alias, space_.alias().base) << "it takes no room among the aliases";
  Free(block);
  EXPECT_FALSE(host_->FindAlias(host_->Address(*block), &found)) << "SPEC 30 §3.2: freeing unregisters";
  EXPECT_TRUE(host_->Unregister(0x10000));
}

TEST_F(HostMemoryTest, RangesThatAreOnlyPinnedHaveNoAlias) {
  Registration pinned, mapped, found;
  pinned.start = 0x10000;
  mapped.start = 0x20000;
  pinned.bytes = mapped.bytes = kPage;
  pinned.mapped = mapped.pinned = false;
  ASSERT_EQ(host_->Register(&pinned, false, &other_), RegisterResult::kRegistered);
  ASSERT_EQ(host_->Register(&mapped, false, &other_), RegisterResult::kRegistered);
  EXPECT_EQ(pinned.alias, 0u);
  EXPECT_EQ(mapped.alias, space_.alias().base);
  EXPECT_TRUE(host_->IsPinned(0x10000, kPage));
  EXPECT_FALSE(host_->IsPinned(0x20000, kPage));
  EXPECT_FALSE(host_->FindAlias(0, &found));
  EXPECT_TRUE(host_->Unregister(0x10000));
  EXPECT_TRUE(host_->FindAlias(mapped.alias, &found)) << "of the other one";
  host_->UnregisterAll(-1);
  EXPECT_FALSE(host_->FindAlias(mapped.alias, &found));
}

TEST_F(HostMemoryTest, OverlapsAreRefusedAndNamed) {
  ASSERT_EQ(Register(0x10000, 0x2000), RegisterResult::kRegistered);
  struct {
    uintptr_t start;
    uint64_t bytes;
    bool overlaps;
  } cases[] = {{0x10000, 0x2000, true}, {0x10000, 1, true},      {0x11000, 0x1000, true},
               {0xf000, 0x1001, true},  {0xf000, 0x8000, true},  {0x11fff, 1, true},
               {0xf000, 0x1000, false}, {0x12000, 0x1000, false}};
  for (const auto& test : cases) {
    SCOPED_TRACE(test.start);
    RegisterResult result = Register(test.start, test.bytes);
    EXPECT_EQ(result == RegisterResult::kOverlaps, test.overlaps);
    if (test.overlaps) {
      EXPECT_EQ(other_.start, 0x10000u);
    }
  }
  EXPECT_EQ(Register(0x13000, 0x1000), RegisterResult::kRegistered);
  EXPECT_EQ(Register(0x8000, 0x20000), RegisterResult::kOverlaps) << "around several";
  host_->UnregisterAll(-1);
}

TEST_F(HostMemoryTest, UnregisteringWantsTheStart) {
  ASSERT_EQ(Register(0x10000, 0x2000), RegisterResult::kRegistered);
  EXPECT_FALSE(host_->Unregister(0x11000));
  EXPECT_TRUE(host_->Unregister(0x10000));
  EXPECT_FALSE(host_->Unregister(0x10000));
  Registration found;
  EXPECT_FALSE(host_->FindRegistration(0x10000, &found));
  EXPECT_EQ(Register(0x11000, 0x2000), RegisterResult::kRegistered);
  host_->UnregisterAll(-1);
}

TEST_F(HostMemoryTest, ADeviceTakesItsRegistrationsAlong) {
  for (uintptr_t i = 0; i < 6; ++i) {
    ASSERT_EQ(Register(0x10000 * (i + 1), kPage, i == 0, static_cast<int>(i % 2)),
              RegisterResult::kRegistered);
  }
  host_->UnregisterAll(0);
  Registration found;
  for (uintptr_t i = 0; i < 6; ++i) EXPECT_EQ(host_->FindRegistration(0x10000 * (i + 1), &found), i % 2 == 1);
  host_->UnregisterAll(-1);
  EXPECT_FALSE(host_->FindRegistration(0x20000, &found));
}

TEST_F(HostMemoryTest, RegisteredRangesCountAsPinned) {
  ASSERT_EQ(Register(0x10000, 6000), RegisterResult::kRegistered);
  EXPECT_TRUE(host_->IsPinned(0x10000, 6000));
  EXPECT_TRUE(host_->IsPinned(0x10000 + 5999, 1));
  EXPECT_FALSE(host_->IsPinned(0x10000, 6001));
  EXPECT_FALSE(host_->IsPinned(0x10000 - 1, 2));
  EXPECT_FALSE(host_->IsPinned(0x10000 + 8, ~uint64_t{0} - 4));
  host_->UnregisterAll(-1);
  EXPECT_FALSE(host_->IsPinned(0x10000, 1));
}

TEST_F(HostMemoryTest, AnAliasRegionThatIsFullRefuses) {
  uint64_t region = space_.alias().bytes;
  ASSERT_EQ(Register(uintptr_t{1} << 50, region - kPage), RegisterResult::kRegistered);
  EXPECT_EQ(Register(0x10000, 2 * kPage), RegisterResult::kNoAlias);
  ASSERT_EQ(Register(0x10000, kPage), RegisterResult::kRegistered);
  EXPECT_EQ(Register(0x20000, 1), RegisterResult::kNoAlias);
  host_->UnregisterAll(-1);
  EXPECT_EQ(Register(0x20000, region), RegisterResult::kRegistered);
  host_->UnregisterAll(-1);
}

TEST_F(HostMemoryTest, RandomRegistrationsAgreeWithAModel) {
  std::mt19937_64 random(5);
  std::map<uintptr_t, Registration> model;
  auto overlaps = [&](uintptr_t start, uint64_t bytes) {
    for (const auto& [at, other] : model) {
      if (start < at + other.bytes && at < start + bytes) return true;
    }
    return false;
  };
  for (int step = 0; step < 4000; ++step) {
    uintptr_t start = 0x100000 + random() % 64 * kPage;
    uint64_t bytes = 1 + random() % (6 * kPage);
    switch (random() % 4) {
      case 0:
      case 1: {
        bool taken = overlaps(start, bytes);
        RegisterResult result = Register(start, bytes);
        ASSERT_EQ(result == RegisterResult::kOverlaps, taken);
        if (taken) break;
        for (const auto& [at, other] : model) {
          ASSERT_TRUE(last_.alias + bytes <= other.alias || other.alias + other.bytes <= last_.alias);
        }
        model[start] = last_;
        break;
      }
      case 2:
        ASSERT_EQ(host_->Unregister(start), model.erase(start) == 1);
        break;
      default: {
        uintptr_t address = start + random() % (2 * kPage);
        Registration found;
        bool inside = overlaps(address, 1);
        ASSERT_EQ(host_->FindRegistration(address, &found), inside);
        if (!inside) break;
        uintptr_t alias = found.alias + (address - found.start);
        Registration back;
        ASSERT_TRUE(host_->FindAlias(alias, &back));
        ASSERT_EQ(back.start, found.start);
      }
    }
  }
  host_->UnregisterAll(-1);
}

TEST_F(HostMemoryTest, ThreadsAllocateRegisterAndFree) {
  host_ = std::make_unique<HostMemory>(space_, false, 0);  // blocks are used again at once
  auto work = [&](uintptr_t salt) {
    for (int i = 0; i < 500; ++i) {
      Allocation* block = host_->Allocate(8192, false, Site{}, 0);
      ASSERT_NE(block, nullptr);
      memset(Bytes(block), static_cast<int>(salt), 8192);
      Registration mine, other;
      mine.start = host_->Address(*block);
      mine.bytes = 8192;
      ASSERT_EQ(host_->Register(&mine, false, &other), RegisterResult::kRegistered);
      ASSERT_TRUE(host_->IsPinned(mine.start, 8192));
      Registration found;
      ASSERT_TRUE(host_->FindAlias(mine.alias + 8191, &found));
      ASSERT_EQ(found.start, mine.start);
      ASSERT_EQ(Bytes(block)[8191], salt);
      ASSERT_EQ(host_->Free(block, Site{}, 0), SlabHeap::FreeResult::kFreed);
    }
  };
  std::thread other(work, 1);
  work(2);
  other.join();
}

}  // namespace
}  // namespace belay::memory
