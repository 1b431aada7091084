// SPEC 30 §1.3: device memory by software component. Each test runs in the same process as the others, so
// peaks are compared with what they were before.
#include "support.h"

namespace conformance {
namespace {

constexpr size_t kMost = 16;
constexpr uint16_t kRuntime = 7;

struct Usage {
  uint64_t current = kUntouched, peak = kUntouched;
};

std::vector<aclrtMemUsageInfo> Ask(int device, size_t room = kMost) {
  std::vector<aclrtMemUsageInfo> records(room);
  std::memset(records.data(), 0x77, room * sizeof(records[0]));
  size_t count = kUntouched;
  EXPECT_OK(aclrtGetMemUsageInfo(device, records.data(), room, &count));
  EXPECT_LE(count, room);
  records.resize(std::min(count, room));
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_LE(records[i].curMemSize, records[i].memPeakSize) << records[i].name;
    if (i > 0) {
      EXPECT_GE(records[i - 1].curMemSize, records[i].curMemSize) << "largest first";
    }
    for (size_t value : records[i].reserved) EXPECT_EQ(value, 0u);
  }
  return records;
}

Usage Of(int device, const std::string& name) {
  for (const aclrtMemUsageInfo& record : Ask(device)) {
    if (record.name == name) return {record.curMemSize, record.memPeakSize};
  }
  return {};
}

// An allocation with a module id.
void* Allocate(size_t size, uint16_t module, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_NORMAL_ONLY) {
  aclrtMallocAttribute attribute;
  std::memset(&attribute, 0, sizeof(attribute));
  attribute.attr = ACL_RT_MEM_ATTR_MODULE_ID;
  attribute.value.moduleId = module;
  aclrtMallocConfig config = {&attribute, 1};
  void* ptr = nullptr;
  EXPECT_OK(aclrtMallocWithCfg(&ptr, size, policy, &config));
  return ptr;
}

class MemUsage : public OnTwoDevices {};

TEST_F(MemUsage, BadArguments) {
  aclrtMemUsageInfo record;
  std::memset(&record, 0x77, sizeof(record));
  const aclrtMemUsageInfo before = record;
  size_t count = kUntouched;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemUsageInfo(0, nullptr, 1, &count));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemUsageInfo(0, &record, 1, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemUsageInfo(0, &record, 0, &count));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemUsageInfo(99, &record, 0, &count)) << "before the device";
  for (int device : {-1, DeviceCount(), 99}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetMemUsageInfo(device, &record, 1, &count)) << device;
  }
  EXPECT_EQ(count, kUntouched);
  EXPECT_EQ(std::memcmp(&record, &before, sizeof(record)), 0);
}

TEST_F(MemUsage, NeedsNoContext) {
  const int unused = DeviceCount() - 1;
  OnNewThread([&] {
    for (int device : {0, unused}) {
      const auto records = Ask(device);
      ASSERT_GE(records.size(), 2u);
      EXPECT_EQ(Of(device, "APP").current, 0u);
      EXPECT_EQ(Of(device, "RUNTIME").current, 0u);
    }
    EXPECT_EQ(Of(unused, "APP").peak, 0u) << "nobody opened it";
    EXPECT_STREQ(Ask(unused)[0].name, "RUNTIME") << "ties go by module id";
  });
}

TEST_F(MemUsage, CountsChargedBytes) {
  {
    DeviceBlock small(100, ACL_MEM_MALLOC_NORMAL_ONLY);
    EXPECT_EQ(Of(0, "APP").current, 4 * kKiB);
    DeviceBlock huge(2 * kMiB, ACL_MEM_MALLOC_HUGE_ONLY);
    EXPECT_EQ(Of(0, "APP").current, 4 * kKiB + 4 * kMiB) << "the padding takes another page";
    PinnedBlock host(kMiB);
    EXPECT_EQ(Of(0, "APP").current, 4 * kKiB + 4 * kMiB) << "host memory does not count";
    EXPECT_EQ(Of(1, "APP").current, 0u) << "devices count apart";
    EXPECT_STREQ(Ask(0)[0].name, "APP");
  }
  EXPECT_EQ(Of(0, "APP").current, 0u);
}

TEST_F(MemUsage, PeaksStay) {
  const uint64_t floor = Of(0, "APP").peak + 2 * kMiB;
  {
    DeviceBlock block(floor - 32, ACL_MEM_MALLOC_NORMAL_ONLY);
    EXPECT_EQ(Of(0, "APP").peak, Of(0, "APP").current);
  }
  const uint64_t peak = Of(0, "APP").peak;
  EXPECT_GE(peak, floor);
  { DeviceBlock block(kMiB); }
  EXPECT_EQ(Of(0, "APP").peak, peak) << "less does not change it";
  ASSERT_OK(aclrtResetDevice(0));
  EXPECT_EQ(Of(0, "APP").peak, peak) << "nor does a reset";
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(MemUsage, RefusedRequestsCountNothing) {
  const Usage before = Of(0, "APP");
  void* ptr = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&ptr, size_t{1} << 50, ACL_MEM_MALLOC_HUGE_ONLY));
  EXPECT_EQ(Of(0, "APP").current, before.current);
  EXPECT_EQ(Of(0, "APP").peak, before.peak);
}

TEST_F(MemUsage, ModulesHaveTheirOwnRecords) {
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_EQ(Of(1, "MODULE_45").current, kUntouched) << "not listed before its first use";
  void* own = Allocate(3 * kMiB - 32, 45);
  void* largest = Allocate(65535 * size_t{32}, 65535);
  void* runtime = Allocate(100, kRuntime);
  void* app = Allocate(kMiB - 32, 33);
  EXPECT_EQ(Of(1, "MODULE_45").current, 3 * kMiB);
  EXPECT_EQ(Of(1, "RUNTIME").current, 4 * kKiB);
  EXPECT_EQ(Of(1, "APP").current, kMiB);
  const auto all = Ask(1);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_STREQ(all[0].name, "MODULE_45");
  EXPECT_STREQ(all[1].name, "MODULE_65535");
  EXPECT_STREQ(all[2].name, "APP");
  EXPECT_STREQ(all[3].name, "RUNTIME");
  const auto two = Ask(1, 2);
  ASSERT_EQ(two.size(), 2u) << "only the top ones";
  EXPECT_STREQ(two[1].name, "MODULE_65535");
  for (void* ptr : {own, largest, runtime, app}) EXPECT_OK(aclrtFree(ptr));
  EXPECT_EQ(Of(1, "MODULE_45").current, 0u);
  EXPECT_EQ(Of(1, "MODULE_45").peak, 3 * kMiB);
  const auto none = Ask(1);
  ASSERT_EQ(none.size(), 4u) << "who held something stays listed";
  EXPECT_STREQ(none[0].name, "RUNTIME");
  EXPECT_STREQ(none[1].name, "APP");
  EXPECT_STREQ(none[2].name, "MODULE_45");
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(MemUsage, TouchesNoRecordsBehind) {
  std::vector<aclrtMemUsageInfo> records(kMost);
  std::memset(records.data(), 0x77, kMost * sizeof(records[0]));
  const aclrtMemUsageInfo untouched = records[0];
  size_t count = 0;
  ASSERT_OK(aclrtGetMemUsageInfo(0, records.data(), kMost, &count));
  for (size_t i = count; i < kMost; ++i) {
    EXPECT_EQ(std::memcmp(&records[i], &untouched, sizeof(untouched)), 0) << i;
  }
}

TEST_F(MemUsage, ResetsReleaseEverything) {
  void* ptr = nullptr;
  ASSERT_OK(aclrtMalloc(&ptr, kMiB, ACL_MEM_MALLOC_NORMAL_ONLY));  // LEAK
  EXPECT_GT(Of(0, "APP").current, 0u);
  ASSERT_OK(aclrtResetDeviceForce(0));
  EXPECT_EQ(Of(0, "APP").current, 0u);
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(MemUsage, ThreadsAddUp) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      ASSERT_OK(aclrtSetDevice(0));
      for (int i = 0; i < 500; ++i) {
        void* ptr = Allocate(4064, i % 2 == 0 ? 33 : static_cast<uint16_t>(100 + t));
        ASSERT_OK(aclrtFree(ptr));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Of(0, "APP").current, 0u);
  for (int t = 0; t < 4; ++t) {
    const Usage usage = Of(0, "MODULE_" + std::to_string(100 + t));
    EXPECT_EQ(usage.current, 0u);
    EXPECT_EQ(usage.peak, 4 * kKiB) << "one block at a time";
  }
}

}  // namespace
}  // namespace conformance
