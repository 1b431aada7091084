#include "os/mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "os/host_ram.h"

namespace belay::os {
namespace {

constexpr size_t kPage = 4096, kMiB = size_t{1} << 20;

uint8_t* Bytes(uintptr_t address) {
  return reinterpret_cast<uint8_t*>(address);
}

size_t ResidentPages(uintptr_t address, size_t bytes) {
  std::vector<unsigned char> resident((bytes + kPage - 1) / kPage);
  if (mincore(Bytes(address), bytes, resident.data()) != 0) return 0;
  size_t pages = 0;
  for (unsigned char page : resident) pages += page & 1;
  return pages;
}

TEST(ReserveTest, AnywhereIsReadableAndZero) {
  uintptr_t address = Reserve(0, 3 * kPage, Access::kReadWrite);
  ASSERT_NE(address, 0u);
  for (size_t i = 0; i < 3 * kPage; ++i) ASSERT_EQ(Bytes(address)[i], 0);
  memset(Bytes(address), 7, 3 * kPage);
  EXPECT_EQ(Bytes(address)[3 * kPage - 1], 7);
  Release(address, 3 * kPage);
}

TEST(ReserveTest, TakesExactlyTheAddressAskedFor) {
  uintptr_t free_range = Reserve(0, 4 * kMiB, Access::kNone);
  ASSERT_NE(free_range, 0u);
  Release(free_range, 4 * kMiB);
  uintptr_t address = Reserve(free_range + kMiB, kMiB, Access::kReadWrite);
  EXPECT_EQ(address, free_range + kMiB);
  Bytes(address)[kMiB - 1] = 1;
  Release(address, kMiB);
}

TEST(ReserveTest, ATakenRangeIsLeftAlone) {
  uintptr_t taken = Reserve(0, kMiB, Access::kReadWrite);
  ASSERT_NE(taken, 0u);
  memset(Bytes(taken), 9, kMiB);
  EXPECT_EQ(Reserve(taken, kMiB, Access::kReadWrite), 0u);
  EXPECT_EQ(Reserve(taken + kMiB - kPage, kMiB, Access::kReadWrite), 0u) << "overlaps the last page";
  EXPECT_EQ(Bytes(taken)[kMiB - 1], 9);
  Release(taken, kMiB);
}

TEST(ReserveTest, MoreThanTheAddressSpaceIsRefused) {
  EXPECT_EQ(Reserve(0, size_t{1} << 60, Access::kNone), 0u);
  EXPECT_EQ(Reserve(uintptr_t{1} << 60, kMiB, Access::kNone), 0u);
}

TEST(ReserveTest, ReservationsCommitNothing) {
  constexpr size_t kTwoTiB = size_t{2} << 40;
  uintptr_t address = Reserve(0, kTwoTiB, Access::kNone);
  if (address == 0) GTEST_SKIP() << "this process has no 2 TiB to spare";
  EXPECT_EQ(ResidentPages(address, kMiB), 0u);
  Release(address, kTwoTiB);
}

using ReserveDeathTest = testing::Test;

TEST(ReserveDeathTest, NoAccessFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  uintptr_t address = Reserve(0, kPage, Access::kNone);
  ASSERT_NE(address, 0u);
  EXPECT_DEATH(*const_cast<volatile uint8_t*>(Bytes(address)) = 1, "");
  EXPECT_DEATH(static_cast<void>(*const_cast<volatile uint8_t*>(Bytes(address))), "");
  Release(address, kPage);
}

TEST(ReserveDeathTest, ReleasedRangesFault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        uintptr_t address = Reserve(0, kPage, Access::kReadWrite);
        Release(address, kPage);
        *const_cast<volatile uint8_t*>(Bytes(address)) = 1;
      },
      "");
}

TEST(DiscardTest, GivenBackPagesReadAsZero) {
  uintptr_t address = Reserve(0, 8 * kMiB, Access::kReadWrite);
  ASSERT_NE(address, 0u);
  AdviseEngineMemory(address, 8 * kMiB);
  memset(Bytes(address), 0xff, 8 * kMiB);
  Discard(address + 2 * kMiB, 4 * kMiB);
  EXPECT_EQ(Bytes(address)[2 * kMiB - 1], 0xff);
  EXPECT_EQ(Bytes(address)[6 * kMiB], 0xff);
  for (size_t i = 2 * kMiB; i < 6 * kMiB; i += 509) ASSERT_EQ(Bytes(address)[i], 0);
  Bytes(address)[3 * kMiB] = 1;
  EXPECT_EQ(Bytes(address)[3 * kMiB], 1);
  Release(address, 8 * kMiB);
}

TEST(DiscardTest, TakesThePagesFromTheProcess) {
  uintptr_t address = Reserve(0, kMiB, Access::kReadWrite);
  ASSERT_NE(address, 0u);
  memset(Bytes(address), 1, kMiB);
  EXPECT_EQ(ResidentPages(address, kMiB), kMiB / kPage);
  Discard(address, kMiB);
  EXPECT_EQ(ResidentPages(address, kMiB), 0u);
  Release(address, kMiB);
}

// Whether a forked child finds the range mapped.
bool ChildHas(uintptr_t address) {
  pid_t child = fork();
  if (child == 0) {
    unsigned char resident;
    _exit(mincore(Bytes(address), kPage, &resident) == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(AdviseTest, AChildHasWhatIsNotKeptFromIt) {
  uintptr_t engine = Reserve(0, 2 * kMiB, Access::kReadWrite),
            pinned = Reserve(0, 2 * kMiB, Access::kReadWrite);
  AdviseEngineMemory(engine, 2 * kMiB);
  AdviseHugePages(pinned, 2 * kMiB);
  EXPECT_TRUE(ChildHas(engine));
  KeepFromChildren(engine, 2 * kMiB);
  EXPECT_FALSE(ChildHas(engine));
  EXPECT_TRUE(ChildHas(pinned));
  Release(engine, 2 * kMiB);
  Release(pinned, 2 * kMiB);
}

TEST(HostRamTest, IsAtLeastTheFloorAndAtMostTheMachine) {
  uint64_t machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_GE(DefaultHostMemory(), uint64_t{64} << 20);
  EXPECT_LE(DefaultHostMemory(), std::max(machine, uint64_t{64} << 20));
}

}  // namespace
}  // namespace belay::os
