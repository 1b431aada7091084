#include "memory/address_space.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "os/census_test.h"

namespace belay::memory {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30, kMiB = uint64_t{1} << 20;
constexpr uint64_t kFirstChunk = AddressSpace::kFirstChunk;
using Region = AddressSpace::Region;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class AddressSpaceTest : public os::LeavesNothing {};

void CheckPlan(const AddressSpace& space, int devices) {
  uint64_t share = space.share_bytes();
  EXPECT_EQ(share & (share - 1), 0u);
  EXPECT_EQ(space.window().bytes, share * static_cast<uint64_t>(devices));
  for (int device = 0; device < devices; ++device) {
    uintptr_t base = space.ShareBase(device);
    for (uintptr_t address : {base, base + 1, base + share / 2, base + share - 1}) {
      ASSERT_EQ(space.Classify(address), Region::kDevice);
      ASSERT_EQ(space.DeviceOf(address), device);
    }
    // But for the first chunk, what lies together in the window lies together in the engine's mapping.
    const AddressSpace::EngineShare engine = space.engine_share(device);
    ASSERT_EQ(engine.At(kFirstChunk - 1) - engine.At(0), static_cast<ptrdiff_t>(kFirstChunk - 1));
    ASSERT_EQ(engine.At(share - 1) - engine.At(kFirstChunk), static_cast<ptrdiff_t>(share - 1 - kFirstChunk));
    if (device == 0) continue;
    const AddressSpace::EngineShare before = space.engine_share(device - 1);
    ASSERT_EQ(engine.At(0) - before.At(0), static_cast<ptrdiff_t>(AddressSpace::kFirstStride));
    ASSERT_GT(engine.At(kFirstChunk), before.At(share - 1));
    // What some processors guess a cache way from.
    ASSERT_NE(static_cast<uint64_t>(engine.At(kFirstChunk) - before.At(kFirstChunk)) >> 12 & 0xffff, 0u);
  }
  for (const AddressSpace::Range* range : {&space.window(), &space.pinned(), &space.alias()}) {
    EXPECT_EQ(range->base % 4096, 0u);
    Region region = space.Classify(range->base);
    EXPECT_NE(region, Region::kHost);
    EXPECT_EQ(space.Classify(range->base + range->bytes - 1), region);
    EXPECT_NE(space.Classify(range->base - 1), region);
    EXPECT_NE(space.Classify(range->base + range->bytes), region);
  }
}

TEST_F(AddressSpaceTest, EightCards) {
  AddressSpace space;
  ASSERT_TRUE(space.Reserve(8, 61 * kGiB));
  EXPECT_GE(space.share_bytes(), 61 * kGiB) << "one allocation can take a whole card";
  if (!kSanitized) {
    EXPECT_GE(space.share_bytes(), 4 * 61 * kGiB) << "room to spare";
  }
  CheckPlan(space, 8);
}

TEST_F(AddressSpaceTest, OneSmallDevice) {
  AddressSpace space;
  ASSERT_TRUE(space.Reserve(1, 16 * kMiB));
  EXPECT_GE(space.share_bytes(), 64 * kMiB);
  CheckPlan(space, 1);
}

TEST_F(AddressSpaceTest, AThousandDevices) {
  AddressSpace space;
  ASSERT_TRUE(space.Reserve(1024, 61 * kGiB));
  EXPECT_GE(space.share_bytes(), 512 * kMiB) << "ThreadSanitizer leaves that much";
  CheckPlan(space, 1024);
}

TEST_F(AddressSpaceTest, NoDevicesAtAll) {
  AddressSpace space;
  ASSERT_TRUE(space.Reserve(0, 61 * kGiB));
  EXPECT_EQ(space.Classify(reinterpret_cast<uintptr_t>(&space)), Region::kHost);
}

TEST_F(AddressSpaceTest, HostMemoryIsHostMemory) {
  AddressSpace space;
  ASSERT_TRUE(space.Reserve(2, kGiB));
  static int global;
  int local = 0;
  auto heap = std::make_unique<int>(0);
  for (const void* pointer : {static_cast<const void*>(&global), static_cast<const void*>(&local),
                              static_cast<const void*>(heap.get()), static_cast<const void*>(nullptr)}) {
    EXPECT_EQ(space.Classify(reinterpret_cast<uintptr_t>(pointer)), Region::kHost);
  }
  EXPECT_EQ(space.Classify(~uintptr_t{0}), Region::kHost);
  EXPECT_EQ(space.Classify(reinterpret_cast<uintptr_t>(space.engine_share(0).At(0))), Region::kHost)
      << "the engine's mapping is no user address";
}

TEST_F(AddressSpaceTest, EngineAndPinnedBytesAreThere) {
  AddressSpace space;
  ASSERT_TRUE(space.Reserve(2, kGiB));
  for (uint64_t offset : {uint64_t{0}, kFirstChunk, space.share_bytes() - 8192}) {
    uint8_t* at = space.engine_share(1).At(offset);
    memset(at + 4096, 7, 4096);
    EXPECT_EQ(at[8191], 7);
    EXPECT_EQ(at[4095], 0);
  }
  auto* pinned = reinterpret_cast<uint8_t*>(space.pinned().base);
  pinned[space.pinned().bytes - 1] = 3;
  EXPECT_EQ(pinned[space.pinned().bytes - 1], 3);
}

TEST_F(AddressSpaceTest, SeveralSpacesLiveSideBySide) {
  AddressSpace first, second;
  ASSERT_TRUE(first.Reserve(2, 61 * kGiB));
  ASSERT_TRUE(second.Reserve(2, 61 * kGiB));
  EXPECT_EQ(first.Classify(second.ShareBase(0)), Region::kHost);
  EXPECT_EQ(second.Classify(first.ShareBase(1)), Region::kHost);
}

using AddressSpaceDeathTest = AddressSpaceTest;

TEST_F(AddressSpaceDeathTest, TheHostCannotTouchDeviceAndAliasAddresses) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  AddressSpace space;
  ASSERT_TRUE(space.Reserve(1, kGiB));
  for (uintptr_t address :
       {space.ShareBase(0), space.ShareBase(0) + space.share_bytes() - 1, space.alias().base}) {
    EXPECT_DEATH(static_cast<void>(*reinterpret_cast<volatile uint8_t*>(address)), "");
    EXPECT_DEATH(*reinterpret_cast<volatile uint8_t*>(address) = 1, "");
  }
}

// The share that `devices` devices of 61 GiB get under a limit on virtual memory; 0 = refused.
uint64_t ShareUnderLimit(int devices, uint64_t limit) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return 1;
  pid_t child = fork();
  if (child == 0) {
    rlimit bound{limit, limit};
    setrlimit(RLIMIT_AS, &bound);
    AddressSpace space;
    uint64_t share = space.Reserve(devices, 61 * kGiB) ? space.share_bytes() : 0;
    _exit(write(pipe_ends[1], &share, sizeof share) == sizeof share ? 0 : 1);
  }
  uint64_t share = 1;
  EXPECT_EQ(read(pipe_ends[0], &share, sizeof share), static_cast<ssize_t>(sizeof share));
  int status = 0;
  waitpid(child, &status, 0);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  return share;
}

TEST_F(AddressSpaceTest, ATightLimitMeansSmallerEqualSharesAndThenNone) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs more address space than the limit leaves";
  EXPECT_GE(ShareUnderLimit(8, uint64_t{6} << 40), 61 * kGiB);
  uint64_t small = ShareUnderLimit(8, uint64_t{1200} * kGiB);
  EXPECT_GE(small, 4 * kGiB) << "smaller than the card: that limits the largest block only";
  EXPECT_LE(small, 64 * kGiB);
  EXPECT_GE(ShareUnderLimit(8, uint64_t{300} * kGiB), kGiB);
  EXPECT_EQ(ShareUnderLimit(8, 4 * kGiB), 0u);
}

}  // namespace
}  // namespace belay::memory
