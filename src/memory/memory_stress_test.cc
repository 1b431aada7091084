// Host threads on one node's memory for BELAY_STRESS_SECONDS, with a budget that is always short.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "memory/node_memory.h"
#include "os/census_test.h"
#include "os/thread.h"

namespace belay::memory {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

struct Tenant {
  DeviceMemory* memory;
  Allocation* block;
  std::vector<uint8_t> bytes;
};

class SlowMemoryStressTest : public os::LeavesNothing, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    const char* seconds = getenv("BELAY_STRESS_SECONDS");
    if (seconds == nullptr) GTEST_SKIP() << "slow; set BELAY_STRESS_SECONDS";
    end_ns_ = os::MonotonicNs() + static_cast<int64_t>(atof(seconds) * 1e9 / 2);
    NodeMemory::Config config;
    config.limits.devices = 2;
    config.limits.capacity = 48 * kMiB;
    config.host_budget_bytes = 40 * kMiB;
    config.rest_freed = GetParam();
    memory_ = NodeMemory::Create(config);
  }

  void Step(std::vector<Tenant>& live, std::mt19937_64& random) {
    if (live.size() < 6 && random() % 2 == 0) {
      DeviceMemory& memory = memory_->Open(static_cast<int>(random() % 2));
      DeviceMemory::Request request;
      request.size = 1 + (random() % 3 == 0 ? random() % (6 * kMiB) : random() % 5000);
      request.policy = static_cast<uint32_t>(random() % 3);
      DeviceMemory::Shortage shortage;
      Allocation* block = memory.Allocate(request, &shortage);
      if (block != nullptr) live.push_back({&memory, block, std::vector<uint8_t>(request.size)});
      return;
    }
    if (live.empty()) return;
    std::swap(live[random() % live.size()], live.back());
    auto& [memory, block, bytes] = live.back();
    uint64_t at = random() % bytes.size(), count = 1 + random() % (bytes.size() - at);
    uint8_t* start = memory->EngineStart(*block);
    ASSERT_EQ(memory_->Locate(memory->UserAddress(*block) + at).block, block);
    switch (random() % 6) {
      case 0:
        SlabHeap::Pin(block);
        ASSERT_EQ(memory->Free(block, Site{}, 0), SlabHeap::FreeResult::kInUse);
        memory->Unpin(block);
        live.pop_back();
        return;
      case 1:
        ASSERT_EQ(memory->Free(block, Site{}, 0), SlabHeap::FreeResult::kFreed);
        live.pop_back();
        return;
      case 2:
      case 3:
        if (!memory->PrepareWrite(*block, at, count, false)) return;  // the budget: nothing changed
        memset(start + at, static_cast<int>(random() % 256), count);
        memcpy(&bytes[at], start + at, count);
        return;
      default:
        memory->PrepareRead(*block, at, count);
        ASSERT_EQ(memcmp(start + at, &bytes[at], count), 0);
    }
  }

  void Work(uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Tenant> live;
    while (os::MonotonicNs() < end_ns_ && !HasFailure()) {
      for (int i = 0; i < 100; ++i) Step(live, random);
    }
    for (Tenant& tenant : live) tenant.memory->Free(tenant.block, Site{}, 0);
  }

  int64_t end_ns_ = 0;
  std::unique_ptr<NodeMemory> memory_;
};

INSTANTIATE_TEST_SUITE_P(, SlowMemoryStressTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "FreedBlocksRest" : "ReusedAtOnce"; });

TEST_P(SlowMemoryStressTest, ThreadsAllocateWriteAndFree) {
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i < 4; ++i) threads.emplace_back([this, i] { Work(i); });
  Work(0);
  for (std::thread& thread : threads) thread.join();
  for (int device : {0, 1}) EXPECT_EQ(memory_->Open(device).device(), device);
  for (int device : {0, 1}) EXPECT_EQ(memory_->books().used_bytes(device), 0u);
  memory_->physical().Reclaim();
  EXPECT_EQ(memory_->physical().used_bytes(), 0u) << "every chunk is idle now";
}

}  // namespace
}  // namespace belay::memory
