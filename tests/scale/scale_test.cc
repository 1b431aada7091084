// Many devices and much memory on a small host, through the C ABI.
#include <acl/acl.h>
#include <dirent.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace {

int Threads() {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

// Each of 1024 devices is set, allocates, moves 64 bytes in and out, and frees; no device has a thread of its
// own.
TEST(ThousandDevices, EachMovesItsOwnBytes) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  uint32_t count = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  ASSERT_EQ(count, 1024u);
  int before = Threads();
  std::vector<void*> blocks(count);
  for (uint32_t device = 0; device < count; ++device) {
    ASSERT_EQ(aclrtSetDevice(static_cast<int32_t>(device)), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&blocks[device], 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    uint8_t out[64];
    memset(out, static_cast<int>(device * 7 + device / 256), sizeof(out));
    ASSERT_EQ(aclrtMemcpy(blocks[device], 64, out, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  EXPECT_LE(Threads(), before + 2) << "threads must not grow with devices";
  for (uint32_t device = 0; device < count; ++device) {
    ASSERT_EQ(aclrtSetDevice(static_cast<int32_t>(device)), ACL_SUCCESS);
    uint8_t expected[64], in[64] = {};
    memset(expected, static_cast<int>(device * 7 + device / 256), sizeof(expected));
    ASSERT_EQ(aclrtMemcpy(in, 64, blocks[device], 64, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    ASSERT_EQ(memcmp(in, expected, 64), 0) << "device " << device;
    ASSERT_EQ(aclrtFree(blocks[device]), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetDeviceForce(static_cast<int32_t>(device)), ACL_SUCCESS);
  }
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

constexpr size_t kGiB = size_t{1} << 30, kMiB = size_t{1} << 20;

// Eight devices of 64 GiB, all of it allocated, a few MiB written on each: fits in 2 GiB of host memory.
// Filling it is refused with 207001 and hurts nobody.
TEST(LargeMemory, OnlyWrittenBytesTakeHostMemory) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  std::vector<uint8_t> pattern(4 * kMiB), back(4 * kMiB);
  std::vector<void*> blocks(8);
  for (int device = 0; device < 8; ++device) {
    ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
    size_t free = 0, total = 0;
    ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
    ASSERT_EQ(total, 64 * kGiB);
    ASSERT_EQ(aclrtMalloc(&blocks[device], 63 * kGiB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
    for (size_t i = 0; i < pattern.size(); ++i)
      pattern[i] = static_cast<uint8_t>(i * 31 + static_cast<size_t>(device));
    char* at = static_cast<char*>(blocks[device]) + 40 * kGiB;
    ASSERT_EQ(aclrtMemcpy(at, pattern.size(), pattern.data(), pattern.size(), ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpy(back.data(), back.size(), at, back.size(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    ASSERT_EQ(back, pattern);
    // Reading what nobody wrote gives zeros and takes nothing.
    ASSERT_EQ(aclrtMemcpy(back.data(), back.size(), blocks[device], back.size(), ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    ASSERT_EQ(back, std::vector<uint8_t>(back.size()));
  }
  // The budget is 2 GiB: this write does not fit, changes nothing, and the device goes on.
  ASSERT_EQ(aclrtMemset(blocks[7], 8 * kGiB, 0x5a, 8 * kGiB), ACL_ERROR_RT_MEMORY_ALLOCATION);
  ASSERT_EQ(aclrtMemcpy(back.data(), 64, blocks[7], 64, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(back[0], 0);
  // A task that does not fit fails with its own code, told by the next synchronisation, once.
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(blocks[7], 8 * kGiB, 0x5a, 8 * kGiB, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DEVICE_OOM);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  // Freed pages of any device make room again.
  for (int device = 0; device < 8; ++device) EXPECT_EQ(aclrtFree(blocks[device]), ACL_SUCCESS);
  void* again = nullptr;
  ASSERT_EQ(aclrtMalloc(&again, kGiB + kGiB / 2, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(again, kGiB + kGiB / 2, 1, kGiB + kGiB / 2), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(again), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

}  // namespace
