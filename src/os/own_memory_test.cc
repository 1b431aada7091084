#include "os/own_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "os/own_storage.h"

namespace belay::os {
namespace {

constexpr size_t kPage = 4096;

class OwnMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    bytes_ = static_cast<char*>(
        mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(bytes_, MAP_FAILED);
    address_ = reinterpret_cast<uintptr_t>(bytes_);
  }
  void TearDown() override { munmap(bytes_, 4 * kPage); }

  char* bytes_ = nullptr;
  uintptr_t address_ = 0;
};

TEST_F(OwnMemoryTest, BytesPassTheProtection) {
  char text[] = "through";
  ASSERT_TRUE(Protect(address_, 2 * kPage, Protection::kNone));
  errno = 0;
  EXPECT_TRUE(WritePast(address_ + kPage - 3, text, sizeof text));
  char got[sizeof text] = "";
  EXPECT_TRUE(ReadPast(address_ + kPage - 3, got, sizeof got));
  EXPECT_STREQ(got, text);
  ASSERT_TRUE(Protect(address_, 2 * kPage, Protection::kReadOnly));
  EXPECT_STREQ(bytes_ + kPage - 3, text);
  munmap(bytes_ + 2 * kPage, kPage);
  EXPECT_FALSE(WritePast(address_ + 2 * kPage, text, 1));
  EXPECT_FALSE(Protect(address_ + kPage, 2 * kPage, Protection::kNone));
  EXPECT_EQ(errno, 0);
}

TEST_F(OwnMemoryTest, KnowsOrdinaryPages) {
  EXPECT_TRUE(IsReadWrite(address_, 4 * kPage));
  mprotect(bytes_ + kPage, kPage, PROT_READ);
  EXPECT_FALSE(IsReadWrite(address_, 4 * kPage));
  EXPECT_TRUE(IsReadWrite(address_, kPage) && IsReadWrite(address_ + 2 * kPage, 2 * kPage));
  mprotect(bytes_ + kPage, kPage, PROT_READ | PROT_WRITE);
  munmap(bytes_ + kPage, kPage);
  EXPECT_FALSE(IsReadWrite(address_, 4 * kPage));
}

// A program that closes every file it does not know, and opens others.
TEST_F(OwnMemoryTest, AnotherFileInItsPlaceIsNotWritten) {
  char byte = 1;
  ASSERT_TRUE(WritePast(address_, &byte, 1));
  int mine = -1;
  for (int fd = 3; fd < 1024 && mine < 0; ++fd) {
    char path[64], target[64] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length > 4 && strcmp(target + length - 4, "/mem") == 0) mine = fd;
  }
  ASSERT_GE(mine, 0);
  char name[] = "/tmp/own_memory_test_XXXXXX";
  int other = mkstemp(name);
  ASSERT_GE(other, 0);
  unlink(name);
  ASSERT_EQ(dup2(other, mine), mine);
  byte = 2;
  EXPECT_TRUE(WritePast(address_, &byte, 1));
  EXPECT_EQ(bytes_[0], 2);
  EXPECT_EQ(lseek(other, 0, SEEK_END), 0);
  close(mine);
  close(other);
}

TEST(OwnStorageTest, MapsFindWhatTheyHold) {
  OwnMap<uint64_t> map;
  EXPECT_EQ(map.Find(1), nullptr);
  for (uintptr_t key = 1; key <= 10'000; ++key) *map.At(key * 64) = key;
  for (uintptr_t key = 1; key <= 10'000; ++key) ASSERT_EQ(*map.Find(key * 64), key);
  EXPECT_EQ(map.Find(32), nullptr);
  uint64_t sum = 0;
  map.ForEach([&](uintptr_t, uint64_t value) { sum += value; });
  EXPECT_EQ(sum, 50'005'000u);
}

TEST(OwnStorageTest, PoolsTakeWhatCameBack) {
  struct Thing {
    uint64_t value = 5;
    void* more = nullptr;
  };
  OwnPool<Thing> pool;
  Thing* first = pool.Take();
  first->value = 6;
  pool.Return(first);
  Thing* again = pool.Take();
  EXPECT_EQ(again, first);
  EXPECT_EQ(again->value, 5u);
  for (int i = 0; i < 20'000; ++i) ASSERT_NE(pool.Take(), nullptr);
}

}  // namespace
}  // namespace belay::os
