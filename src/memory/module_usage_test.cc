#include "memory/module_usage.h"

#include <gtest/gtest.h>

#include "memory/slab_heap.h"

namespace belay::memory {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint16_t kApplication = ModuleUsage::kApplication;

ModuleUsage::Amount Of(const std::vector<ModuleUsage::Entry>& entries, uint16_t module) {
  for (const auto& entry : entries) {
    if (entry.module == module) return entry.amount;
  }
  return {~uint64_t{0}, ~uint64_t{0}};
}

TEST(ModuleUsageTest, KeepsCurrentAndPeakOfEach) {
  ModuleUsage usage;
  ASSERT_EQ(usage.Entries().size(), 1u) << "the application is always there";
  EXPECT_EQ(Of(usage.Entries(), kApplication).peak, 0u);
  usage.Add(kApplication, 100);
  usage.Add(7, 30);
  usage.Add(kApplication, 50);
  usage.Remove(kApplication, 100);
  usage.Add(kApplication, 20);
  usage.Remove(7, 30);
  const auto entries = usage.Entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(Of(entries, kApplication).current, 70u);
  EXPECT_EQ(Of(entries, kApplication).peak, 150u);
  EXPECT_EQ(Of(entries, 7).current, 0u);
  EXPECT_EQ(Of(entries, 7).peak, 30u) << "who left is remembered";
}

TEST(ModuleUsageTest, HeapsCountWhatIsLive) {
  SlabHeap heap(64 * kMiB, true);
  Allocation* block = heap.Allocate(5000, 8192);
  Allocation* other = heap.Allocate(100, 4096, 45);
  ASSERT_NE(block, nullptr);
  ASSERT_NE(other, nullptr);
  for (Allocation* live : {block, other}) {
    live->state.store(Allocation::State::kLive, std::memory_order_release);
  }
  EXPECT_EQ(heap.Allocate(65 * kMiB, 65 * kMiB), nullptr);
  EXPECT_EQ(Of(heap.usage(), kApplication).current, 8192u) << "a refused request counts nothing";
  EXPECT_EQ(Of(heap.usage(), 45).current, 4096u);
  SlabHeap::Pin(block);
  EXPECT_EQ(heap.Free(block, Site{}, 0), SlabHeap::FreeResult::kInUse);
  EXPECT_EQ(Of(heap.usage(), kApplication).current, 0u) << "freed, although tasks still use it";
  EXPECT_EQ(heap.Free(block, Site{}, 0), SlabHeap::FreeResult::kNotLive);
  heap.Unpin(block);
  EXPECT_EQ(Of(heap.usage(), kApplication).current, 0u) << "once";
  EXPECT_EQ(Of(heap.usage(), kApplication).peak, 8192u);
  EXPECT_EQ(heap.Free(other, Site{}, 0), SlabHeap::FreeResult::kFreed);
  EXPECT_EQ(Of(heap.usage(), 45).peak, 4096u);
}

}  // namespace
}  // namespace belay::memory
