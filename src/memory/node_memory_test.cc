#include "memory/node_memory.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "os/census_test.h"

namespace belay::memory {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
using Region = AddressSpace::Region;

class NodeMemoryTest : public os::LeavesNothing {
 protected:
  NodeMemoryTest() {
    NodeMemory::Config config;
    config.limits.devices = 3;
    config.limits.capacity = 64 * kMiB;
    config.host_budget_bytes = 64 * kMiB;
    config.rest_freed = true;
    memory_ = NodeMemory::Create(config);
  }

  Allocation* Allocate(int device, uint64_t size) {
    DeviceMemory::Request request;
    request.size = size;
    DeviceMemory::Shortage shortage;
    return memory_->Open(device).Allocate(request, &shortage);
  }

  std::unique_ptr<NodeMemory> memory_;
};

TEST_F(NodeMemoryTest, DevicesAreMadeWhenOpened) {
  EXPECT_EQ(memory_->Find(1), nullptr);
  DeviceMemory& opened = memory_->Open(1);
  EXPECT_EQ(&memory_->Open(1), &opened);
  EXPECT_EQ(memory_->Find(1), &opened);
  EXPECT_EQ(opened.device(), 1);
  EXPECT_EQ(memory_->Find(0), nullptr);
}

TEST_F(NodeMemoryTest, ThreadsOpenADeviceOnce) {
  DeviceMemory* seen[2];
  std::thread other([&] { seen[1] = &memory_->Open(2); });
  seen[0] = &memory_->Open(2);
  other.join();
  EXPECT_EQ(seen[0], seen[1]);
}

TEST_F(NodeMemoryTest, EveryAddressIsLocated) {
  Allocation *on_zero = Allocate(0, 1000), *on_two = Allocate(2, 5 * kMiB);
  uintptr_t user = memory_->Find(2)->UserAddress(*on_two);
  NodeMemory::Place place = memory_->Locate(user + 4 * kMiB + 3);
  EXPECT_EQ(place.region, Region::kDevice);
  EXPECT_EQ(place.device, 2);
  EXPECT_EQ(place.block, on_two);
  EXPECT_EQ(place.at, 4 * kMiB + 3);
  EXPECT_EQ(memory_->Locate(memory_->Find(0)->UserAddress(*on_zero)).block, on_zero);

  place = memory_->Locate(memory_->space().ShareBase(1) + 5);
  EXPECT_EQ(place.region, Region::kDevice);
  EXPECT_EQ(place.device, 1);
  EXPECT_EQ(place.block, nullptr) << "never opened";

  Allocation* pinned = memory_->host().Allocate(10'000, false, Site{}, 0);
  place = memory_->Locate(memory_->host().Address(*pinned) + 9'999);
  EXPECT_EQ(place.region, Region::kPinned);
  EXPECT_EQ(place.block, pinned);
  EXPECT_EQ(place.at, 9'999u);
  memory_->host().Free(pinned, Site{}, 0);

  EXPECT_EQ(memory_->Locate(reinterpret_cast<uintptr_t>(this)).region, Region::kHost);
  EXPECT_EQ(memory_->Locate(memory_->space().alias().base).region, Region::kAlias);
  EXPECT_EQ(memory_->Locate(memory_->space().window().base - 1).block, nullptr);
}

TEST_F(NodeMemoryTest, FreedBlocksAreStillLocated) {
  Allocation* block = Allocate(0, 1000);
  uintptr_t user = memory_->Find(0)->UserAddress(*block);
  memory_->Find(0)->Free(block, Site{0x5}, 3);
  NodeMemory::Place place = memory_->Locate(user + 10);
  ASSERT_EQ(place.block, block);
  EXPECT_EQ(place.at, 10u);
  EXPECT_EQ(place.block->state.load(), Allocation::State::kFreed);
  EXPECT_EQ(place.block->freed, Site{0x5});
}

TEST_F(NodeMemoryTest, DevicesShareTheHostBudget) {
  Allocation *first = Allocate(0, 40 * kMiB), *second = Allocate(1, 40 * kMiB);
  ASSERT_TRUE(memory_->Find(0)->PrepareWrite(*first, 0, 40 * kMiB, false));
  EXPECT_FALSE(memory_->Find(1)->PrepareWrite(*second, 0, 40 * kMiB, false));
  EXPECT_EQ(memory_->physical().used_bytes(), 40 * kMiB);
  memory_->Find(0)->Free(first, Site{}, 0);
  EXPECT_TRUE(memory_->Find(1)->PrepareWrite(*second, 0, 40 * kMiB, false));
}

// Two devices that reclaim from each other at once.
TEST_F(NodeMemoryTest, ThreadsReclaimWithoutADeadlock) {
  auto work = [&](int device) {
    for (int i = 0; i < 200; ++i) {
      Allocation* block = Allocate(device, 20 * kMiB);
      ASSERT_NE(block, nullptr);
      DeviceMemory& memory = *memory_->Find(device);
      // Refused only while the others hold the rest; two blocks of 20 MiB always fit.
      ASSERT_TRUE(memory.PrepareWrite(*block, 0, 20 * kMiB, false));
      memory.EngineStart(*block)[i * 4096] = 1;
      memory.Free(block, Site{}, 0);
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_LE(memory_->physical().used_bytes(), memory_->physical().budget_bytes());
}

TEST(NodeMemoryCreateTest, ANodeMayHaveNoDevices) {
  NodeMemory::Config config;
  config.limits.capacity = 64 * kMiB;
  std::unique_ptr<NodeMemory> memory = NodeMemory::Create(config);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(memory->Locate(0).region, Region::kHost);
}

}  // namespace
}  // namespace belay::memory
