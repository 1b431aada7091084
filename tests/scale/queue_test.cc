// A million tasks on one held stream, through the C ABI: what they take, that none runs early, and their
// order.
#include <acl/acl.h>
#include <belay/control.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr size_t kTasks = 1'000'000;
constexpr size_t kEntries = kTasks / 2;
constexpr size_t kMost = size_t{160} << 20;
constexpr size_t kLogBytes = kEntries * sizeof(uint64_t);
constexpr uint8_t kUnwritten = 0xee;

// Resident bytes of this process.
size_t Resident() {
  FILE* file = fopen("/proc/self/statm", "r");
  unsigned long all = 0, resident = 0;
  EXPECT_EQ(fscanf(file, "%lu %lu", &all, &resident), 2);
  fclose(file);
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// A sanitizer keeps books of its own about every byte.
constexpr bool kMeasures =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    false;
#else
    true;
#endif

class MillionTasks : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    void* pinned = nullptr;
    ASSERT_EQ(aclrtMallocHost(&pinned, kLogBytes), ACL_SUCCESS);
    source_ = static_cast<uint64_t*>(pinned);
    for (size_t i = 0; i < kEntries; ++i) source_[i] = i * 0x9e3779b97f4a7c15u + 1;
    // All pages are there before anything is measured.
    ASSERT_EQ(aclrtMalloc(&block_, kLogBytes + sizeof(uint64_t), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(block_, kLogBytes + sizeof(uint64_t), kUnwritten, kLogBytes + sizeof(uint64_t)),
              ACL_SUCCESS);
    log_ = static_cast<uint64_t*>(block_);
    cell_ = log_ + kEntries;
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block_), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(source_), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }

  // Every value goes through one cell into its entry of the log: two tasks out of order leave a wrong entry.
  aclError SubmitPair(size_t i) {
    const size_t word = sizeof(uint64_t);
    aclError code = aclrtMemcpyAsync(cell_, word, &source_[i], word, ACL_MEMCPY_HOST_TO_DEVICE, stream_);
    if (code != ACL_SUCCESS) return code;
    return aclrtMemcpyAsync(&log_[i], word, cell_, word, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_);
  }
  std::vector<uint64_t> ReadLog() {
    std::vector<uint64_t> log(kEntries);
    EXPECT_EQ(aclrtMemcpy(log.data(), kLogBytes, log_, kLogBytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return log;
  }
  uint64_t ReadCell() {
    uint64_t value = 0;
    EXPECT_EQ(aclrtMemcpy(&value, sizeof(value), cell_, sizeof(value), ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return value;
  }
  size_t Pending() {
    size_t count = 0;
    EXPECT_EQ(belay_list_pending(stream_, nullptr, 0, &count), ACL_SUCCESS);
    return count;
  }

  aclrtStream stream_ = nullptr;
  void* block_ = nullptr;
  uint64_t *source_ = nullptr, *log_ = nullptr, *cell_ = nullptr;
};

TEST_F(MillionTasks, WaitOnAHeldStreamAndRunInOrder) {
  ASSERT_EQ(belay_hold_stream(stream_), ACL_SUCCESS);
  // The first submission may start what serves all of them.
  ASSERT_EQ(SubmitPair(0), ACL_SUCCESS);
  const size_t before = Resident();
  for (size_t i = 1; i < kEntries; ++i) ASSERT_EQ(SubmitPair(i), ACL_SUCCESS) << i;
  const size_t after = Resident();
  RecordProperty("grown_KiB", std::to_string((after - before) >> 10));
  if (kMeasures) {
    EXPECT_LE(after, before + kMost) << "grown by " << ((after - before) >> 20) << " MiB";
  }

  ASSERT_EQ(Pending(), kTasks);
  uint64_t unwritten = 0;
  memset(&unwritten, kUnwritten, sizeof(unwritten));
  std::vector<uint64_t> log = ReadLog();
  ASSERT_EQ(log, std::vector<uint64_t>(kEntries, unwritten)) << "a task ran on a held stream";
  ASSERT_EQ(ReadCell(), unwritten);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  ASSERT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
  ASSERT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  ASSERT_EQ(Pending(), kTasks) << "a query lands nothing on a held stream";

  // The oldest three by hand: one entry and half of the next.
  for (int i = 0; i < 3; ++i) {
    int landed = 0;
    ASSERT_EQ(belay_land_one(stream_, &landed), ACL_SUCCESS);
    ASSERT_EQ(landed, 1);
  }
  log = ReadLog();
  EXPECT_EQ(log[0], source_[0]);
  EXPECT_EQ(log[1], unwritten);
  EXPECT_EQ(ReadCell(), source_[1]);
  ASSERT_EQ(Pending(), kTasks - 3);

  ASSERT_EQ(belay_release_stream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(Pending(), 0u);
  log = ReadLog();
  for (size_t i = 0; i < kEntries; ++i) ASSERT_EQ(log[i], source_[i]) << "out of order at entry " << i;
  EXPECT_EQ(ReadCell(), source_[kEntries - 1]);
}

// A second million takes the room that the first one left.
TEST_F(MillionTasks, TheRoomIsUsedAgain) {
  size_t most = 0;
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(belay_hold_stream(stream_), ACL_SUCCESS);
    for (size_t i = 0; i < kEntries; ++i) ASSERT_EQ(SubmitPair(i), ACL_SUCCESS) << i;
    const size_t now = Resident();
    if (round == 0) most = now + (size_t{8} << 20);
    if (kMeasures) {
      EXPECT_LE(now, most) << "round " << round;
    }
    ASSERT_EQ(belay_release_stream(stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }
}

}  // namespace
