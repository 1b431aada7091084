// SPEC 21 §8: what a fault was, and repairing it. The verbose pair needs version 9.1.
#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

aclrtErrorInfo MemoryError(const std::vector<std::pair<void*, size_t>>& ranges) {
  aclrtErrorInfo info;
  std::memset(&info, 0, sizeof info);
  info.tryRepair = 1;
  info.hasDetail = 1;
  info.errorType = ACL_RT_ERROR_MEMORY;
  info.detail.uceInfo.arraySize = ranges.size();
  for (size_t i = 0; i < ranges.size(); ++i) {
    info.detail.uceInfo.memUceInfoArray[i].addr = ranges[i].first;
    info.detail.uceInfo.memUceInfoArray[i].len = ranges[i].second;
  }
  return info;
}

Bytes AsBytes(const aclrtErrorInfo& info) {
  const auto* first = reinterpret_cast<const uint8_t*>(&info);
  return Bytes(first, first + sizeof info);
}

class Repair : public OnTwoDevices {
 protected:
  static void Break(const aclrtErrorInfo& info, aclError code = ACL_ERROR_RT_DEVICE_MEM_ERROR) {
    ASSERT_OK(belay_fail_device(0, code, &info));
  }
  static void ExpectBroken() {
    void* memory = nullptr;
    EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  static void ExpectSound() {
    DeviceBlock block(Bytes(kSize, 1));
    EXPECT_OK(aclrtMemsetAsync(block.get(), kSize, 2, kSize, nullptr));
    EXPECT_OK(aclrtSynchronizeDevice());
    EXPECT_EQ(block.Read(), Bytes(kSize, 2));
  }
};

class RepairVerbose : public Repair {
 protected:
  void SetUp() override {
    Repair::SetUp();
    if (IsSkipped()) return;
    if (Cann() < "9.1") GTEST_SKIP() << "since 9.1";
    aclrtErrorInfo info;
    SKIP_UNLESS_BUILT(aclrtGetErrorVerbose(0, &info));
  }
  static aclrtErrorInfo Get(int32_t device = 0) {
    aclrtErrorInfo info;
    std::memset(&info, 0x5a, sizeof info);
    EXPECT_OK(aclrtGetErrorVerbose(device, &info));
    return info;
  }
};

TEST_F(RepairVerbose, ArgumentsAreChecked) {
  aclrtErrorInfo info;
  std::memset(&info, 0x5a, sizeof info);
  const Bytes before = AsBytes(info);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetErrorVerbose(0, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRepairError(0, nullptr));
  for (int32_t device : {-1, DeviceCount()}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetErrorVerbose(device, &info));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtRepairError(device, &info));
  }
  EXPECT_EQ(AsBytes(info), before);
}

TEST_F(RepairVerbose, NoFault) {
  aclrtErrorInfo none;
  std::memset(&none, 0, sizeof none);
  EXPECT_EQ(AsBytes(Get()), AsBytes(none)) << "no error, all zero";
  OnNewThread([&] { EXPECT_EQ(AsBytes(Get()), AsBytes(none)) << "without a context"; });
  ASSERT_OK(aclrtDeviceTaskAbort(0, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRepairError(0, &none)) << "nothing to repair";
}

TEST_F(RepairVerbose, TellsTheInjectedRecord) {
  DeviceBlock block(kSize);
  aclrtErrorInfo core;
  std::memset(&core, 0, sizeof core);
  core.hasDetail = 1;
  core.errorType = ACL_RT_ERROR_AICORE;
  core.detail.aicoreErrType = ACL_RT_AICORE_ERROR_SW;
  aclrtErrorInfo link;
  std::memset(&link, 0, sizeof link);
  link.tryRepair = 1;
  link.errorType = ACL_RT_ERROR_LINK;
  std::vector<std::pair<void*, size_t>> ranges;
  for (size_t i = 0; i < 20; ++i) ranges.emplace_back(block.at(64 * i), 64);
  EXPECT_OK(aclrtFree(block.release()));
  for (const aclrtErrorInfo& info : {MemoryError(ranges), MemoryError({ranges[0]}), core, link}) {
    Break(info);
    EXPECT_EQ(AsBytes(Get()), AsBytes(info));
    EXPECT_EQ(AsBytes(Get()), AsBytes(info)) << "asking changes nothing";
    EXPECT_EQ(Get(1).errorType, ACL_RT_NO_ERROR) << "another device";
    ASSERT_OK(aclrtResetDeviceForce(0));
    ASSERT_OK(aclrtSetDevice(0));
    EXPECT_EQ(Get().errorType, ACL_RT_NO_ERROR);
  }
}

TEST_F(RepairVerbose, AfterTheAbortOnly) {
  DeviceBlock block(Bytes(kSize, 7));
  Stream stream;
  Break(MemoryError({{block.at(64), 128}}));
  const aclrtErrorInfo info = Get();
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRepairError(0, &info)) << "before the abort";
  ExpectBroken();
  ASSERT_OK(aclrtDeviceTaskAbort(0, 0));
  aclrtErrorInfo other = info;
  other.errorType = ACL_RT_ERROR_L2;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRepairError(0, &other)) << "not the record of this fault";
  other = info;
  other.detail.uceInfo.memUceInfoArray[0].len = 64;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRepairError(0, &other));
  ExpectBroken();
  EXPECT_OK(aclrtRepairError(0, &info));
  EXPECT_EQ(Get().errorType, ACL_RT_NO_ERROR);
  ExpectSound();
  EXPECT_OK(aclrtMemsetAsync(block.get(), 1, 7, 1, stream.get())) << "the streams of before";
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  const Bytes content = block.Read();
  EXPECT_EQ(Bytes(content.begin(), content.begin() + 64), Bytes(64, 7)) << "what was not named is whole";
  EXPECT_EQ(Bytes(content.begin() + 192, content.end()), Bytes(kSize - 192, 7));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRepairError(0, &info)) << "it is repaired";
}

TEST_F(RepairVerbose, NotEveryFaultCanBeRepaired) {
  DeviceBlock block(kSize);
  aclrtErrorInfo info = MemoryError({{block.get(), 64}});
  info.tryRepair = 0;
  Break(info);
  ASSERT_OK(aclrtDeviceTaskAbort(0, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRepairError(0, &info));
  info.tryRepair = 1;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRepairError(0, &info)) << "a changed record";
  ExpectBroken();
  EXPECT_OK(aclrtFree(block.release()));
  ASSERT_OK(aclrtResetDeviceForce(0));
  ASSERT_OK(aclrtSetDevice(0));
  ExpectSound();
}

class RepairMemory : public Repair {
 protected:
  void SetUp() override {
    Repair::SetUp();
    if (IsSkipped()) return;
    aclrtMemUceInfo entry;
    size_t count = 0;
    SKIP_UNLESS_BUILT(aclrtGetMemUceInfo(0, &entry, 1, &count));
  }
};

TEST_F(RepairMemory, ArgumentsAreChecked) {
  std::vector<aclrtMemUceInfo> entries(200);
  size_t count = 77;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemUceInfo(0, nullptr, 1, &count));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemUceInfo(0, entries.data(), 1, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtGetMemUceInfo(0, entries.data(), MAX_MEM_UCE_INFO_ARRAY_SIZE + 1, &count));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemUceRepair(0, nullptr, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemUceRepair(0, entries.data(), MAX_MEM_UCE_INFO_ARRAY_SIZE + 1));
  for (int32_t device : {-1, DeviceCount()}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetMemUceInfo(device, entries.data(), 1, &count));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemUceRepair(device, entries.data(), 1));
  }
  EXPECT_EQ(count, 77u);
}

TEST_F(RepairMemory, NoFault) {
  aclrtMemUceInfo entry;
  std::memset(&entry, 0, sizeof entry);
  entry.addr = UntouchedPointer();
  size_t count = 77;
  OnNewThread([&] { EXPECT_OK(aclrtGetMemUceInfo(0, &entry, 1, &count)) << "without a context"; });
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(entry.addr, UntouchedPointer());
  ASSERT_OK(aclrtDeviceTaskAbort(0, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemUceRepair(0, &entry, 1)) << "nothing to repair";
}

TEST_F(RepairMemory, FillsWhatFits) {
  DeviceBlock block(kSize);
  std::vector<std::pair<void*, size_t>> ranges;
  for (size_t i = 0; i < 5; ++i) ranges.emplace_back(block.at(256 * i), 64 + i);
  Break(MemoryError(ranges));
  for (size_t room : {1, 3, 5, 8, MAX_MEM_UCE_INFO_ARRAY_SIZE}) {
    std::vector<aclrtMemUceInfo> entries(room + 1);
    for (aclrtMemUceInfo& entry : entries) entry.addr = UntouchedPointer();
    size_t count = 77;
    EXPECT_OK(aclrtGetMemUceInfo(0, entries.data(), room, &count));
    const size_t expected = std::min<size_t>(room, 5);
    EXPECT_EQ(count, expected);
    for (size_t i = 0; i <= room; ++i) {
      if (i < expected) {
        EXPECT_EQ(entries[i].addr, ranges[i].first);
        EXPECT_EQ(entries[i].len, ranges[i].second);
      } else {
        EXPECT_EQ(entries[i].addr, UntouchedPointer());
      }
    }
  }
  size_t count = 77;
  aclrtMemUceInfo entry;
  EXPECT_OK(aclrtGetMemUceInfo(1, &entry, 1, &count));
  EXPECT_EQ(count, 0u) << "another device";
}

TEST_F(RepairMemory, AfterTheAbortOnly) {
  DeviceBlock block(Bytes(kSize, 7));
  Break(MemoryError({{block.at(64), 128}, {block.at(512), 64}}));
  aclrtMemUceInfo entries[2];
  size_t count = 0;
  ASSERT_OK(aclrtGetMemUceInfo(0, entries, 2, &count));
  ASSERT_EQ(count, 2u);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemUceRepair(0, entries, 2));
  ASSERT_OK(aclrtDeviceTaskAbort(0, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemUceRepair(0, entries, 1)) << "not all of it";
  entries[1].len = 65;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemUceRepair(0, entries, 2)) << "another range";
  entries[1].len = 64;
  ExpectBroken();
  EXPECT_OK(aclrtMemUceRepair(0, entries, 2));
  ExpectSound();
  const Bytes content = block.Read();
  EXPECT_EQ(Bytes(content.begin(), content.begin() + 64), Bytes(64, 7));
  EXPECT_EQ(Bytes(content.begin() + 576, content.end()), Bytes(kSize - 576, 7));
  EXPECT_OK(aclrtGetMemUceInfo(0, entries, 2, &count));
  EXPECT_EQ(count, 0u);
}

}  // namespace
}  // namespace conformance
