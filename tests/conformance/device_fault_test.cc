// SPEC 21 §6.3, §6.4, 10 §5.1, README 13: a device that broke. Case C40: 207001 that is not memory.
#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kSize = 256;
constexpr aclError kFault = ACL_ERROR_RT_DEVICE_MEM_ERROR, kRefused = ACL_ERROR_RT_MEMORY_ALLOCATION;

class DeviceFault : public OnTwoDevices {
 protected:
  static void Break(int32_t device, aclError code = kFault) {
    ASSERT_OK(belay_fail_device(device, code, nullptr));
  }
  static void Mend(int32_t device) {
    ASSERT_OK(aclrtResetDeviceForce(device));
    ASSERT_OK(aclrtSetDevice(device));
  }
  static Bytes Filled(int value) { return Bytes(kSize, static_cast<uint8_t>(value)); }
  // Submissions and waits of the current context, on memory of its device.
  static void ExpectBroken(void* memory, aclrtStream stream, aclError code) {
    EXPECT_ACL(code, aclrtMemsetAsync(memory, kSize, 3, kSize, stream));
    EXPECT_ACL(code, aclrtSynchronizeStream(stream));
    EXPECT_ACL(code, aclrtSynchronizeStreamWithTimeout(stream, 1000));
    EXPECT_ACL(code, aclrtSynchronizeDevice());
    EXPECT_ACL(code, aclrtSynchronizeDeviceWithTimeout(1000));
    auto status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_ACL(code, aclrtStreamQuery(stream, &status));
    EXPECT_EQ(status, ACL_STREAM_STATUS_RESERVED);
  }
  static void ExpectSound(aclrtStream stream) {
    DeviceBlock block(Filled(1));
    EXPECT_OK(aclrtMemsetAsync(block.get(), kSize, 3, kSize, stream));
    EXPECT_OK(aclrtSynchronizeStream(stream));
    EXPECT_OK(aclrtSynchronizeDevice());
    EXPECT_EQ(block.Read(), Filled(3));
  }
  static aclrtDeviceStatus Status(int32_t device) {
    auto status = ACL_RT_DEVICE_STATUS_END;
    EXPECT_OK(aclrtQueryDeviceStatus(device, &status));
    return status;
  }
};

TEST_F(DeviceFault, EveryContextOfTheDeviceIsAffected) {
  const aclrtContext mine = CurrentContext();
  DeviceBlock block(Filled(1));
  aclrtEvent event = nullptr;
  ASSERT_OK(aclrtCreateEvent(&event));
  Stream stream;
  ASSERT_OK(aclrtRecordEvent(event, stream.get()));
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  Break(0);
  for (int round = 0; round < 3; ++round) {
    ASSERT_OK(aclrtSetCurrentContext(mine));
    ExpectBroken(block.get(), stream.get(), kFault);
    ExpectBroken(block.get(), nullptr, kFault);
    EXPECT_ACL(kFault, aclrtRecordEvent(event, stream.get()));
    EXPECT_ACL(kFault, aclrtStreamWaitEvent(stream.get(), event));
    ASSERT_OK(aclrtSetCurrentContext(context));
    ExpectBroken(block.get(), nullptr, kFault);
  }
  ASSERT_OK(aclrtSetDevice(1));
  ExpectSound(nullptr);
  OnNewThread([&] {
    ASSERT_OK(aclrtSetCurrentContext(mine));
    ExpectBroken(block.get(), nullptr, kFault);
  });
  ASSERT_OK(aclrtSetCurrentContext(mine));
  EXPECT_OK(aclrtDestroyEvent(event)) << "host calls work in every state";
  EXPECT_OK(aclrtDestroyStream(stream.release()));
  EXPECT_OK(aclrtFree(block.release()));
  EXPECT_OK(aclrtDestroyContext(context));
  Mend(0);
}

TEST_F(DeviceFault, NothingNewCanBeMade) {
  DeviceBlock block(Filled(1));
  Break(0);
  void* memory = UntouchedPointer();
  aclrtStream stream = UntouchedPointer();
  EXPECT_ACL(kRefused, aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(kRefused, aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_NORMAL_ONLY));
  EXPECT_ACL(kRefused, aclrtMallocAlign32(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(kRefused, aclrtCreateStream(&stream));
  EXPECT_ACL(kRefused, aclrtCreateStreamWithConfig(&stream, 0, 0));
  EXPECT_EQ(memory, UntouchedPointer());
  EXPECT_EQ(stream, UntouchedPointer());
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMalloc(nullptr, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtFree(block.release()));
  Mend(0);
  ExpectSound(nullptr);
}

// Case C40.
TEST_F(DeviceFault, TheMessageNamesTheFaultAndNotMemory) {
  Break(0, ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR);
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST), kRefused);
  EXPECT_EQ(Peek(), kRefused);
  const std::string text = Message();
  const size_t fault = text.find(std::to_string(ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR));
  ASSERT_NE(fault, std::string::npos) << text;
  const size_t memory_text = text.find("out of memory");
  EXPECT_TRUE(memory_text == std::string::npos || fault < memory_text) << "the fault comes first: " << text;
  Mend(0);
}

TEST_F(DeviceFault, TokensThatCallersSearchFor) {
  const struct {
    aclError code;
    const char* token;
  } rows[] = {
      {ACL_ERROR_RT_DEVICE_MEM_ERROR, "device mem error"},
      {ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR, "hbm Multi-bit ECC error"},
      {ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR, "suspect device mem error"},
      {ACL_ERROR_RT_LINK_ERROR, "link error"},
      {ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "suspect remote error"},
      {ACL_ERROR_RT_COMM_OP_RETRY_FAIL, "hccl op retry failed"},
  };
  for (const auto& row : rows) {
    Break(0, row.code);
    Message();
    EXPECT_EQ(aclrtSynchronizeDevice(), row.code);
    const std::string text = Message(), token = row.token;
    EXPECT_TRUE(text.find("reason=[" + token + "]") != std::string::npos ||
                text.find("reason=" + token) != std::string::npos)
        << row.code << ": " << text;
    Mend(0);
  }
}

TEST_F(DeviceFault, TheFirstFaultStays) {
  DeviceBlock block(Filled(1));
  Break(0);
  Break(0, ACL_ERROR_RT_LINK_ERROR);
  ExpectBroken(block.get(), nullptr, kFault);
  EXPECT_OK(aclrtFree(block.release()));
  Mend(0);
}

TEST_F(DeviceFault, AnyCodeCanBeInjectedAsFatal) {
  for (aclError code : {ACL_ERROR_RT_AICORE_EXCEPTION, ACL_ERROR_RT_LOST_HEARTBEAT}) {
    DeviceBlock block(Filled(1));
    Break(0, code);
    ExpectBroken(block.get(), nullptr, code);
    EXPECT_OK(aclrtFree(block.release()));
    Mend(0);
  }
}

TEST_F(DeviceFault, DeviceStatus) {
  const auto probe = [] {
    aclrtDeviceStatus status;
    return aclrtQueryDeviceStatus(0, &status);
  };
  SKIP_UNLESS_BUILT(probe());
  EXPECT_EQ(Status(0), ACL_RT_DEVICE_STATUS_NORMAL);
  Break(0);
  EXPECT_EQ(Status(0), ACL_RT_DEVICE_STATUS_ABNORMAL);
  EXPECT_EQ(Status(1), ACL_RT_DEVICE_STATUS_NORMAL);
  Mend(0);
  EXPECT_EQ(Status(0), ACL_RT_DEVICE_STATUS_NORMAL);
}

// A task that fails with a code of the class breaks the device, though its stream continues on failure.
TEST_F(DeviceFault, FatalCodesOfTasks) {
  for (aclError code :
       {ACL_ERROR_RT_LOST_HEARTBEAT, ACL_ERROR_RT_DEVICE_MEM_ERROR, ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR,
        ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR, ACL_ERROR_RT_LINK_ERROR, ACL_ERROR_RT_SUSPECT_REMOTE_ERROR}) {
    const aclrtContext mine = CurrentContext();
    DeviceBlock block(Filled(1));
    aclrtContext context = nullptr;
    ASSERT_OK(aclrtCreateContext(&context, 0));
    ASSERT_OK(aclrtSetCurrentContext(mine));
    FailNext(nullptr, code);
    ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, 2, kSize, nullptr));
    EXPECT_ACL(code, aclrtSynchronizeStream(nullptr));
    EXPECT_ACL(code, aclrtSynchronizeStream(nullptr)) << "not once: the device is broken";
    ASSERT_OK(aclrtSetCurrentContext(context));
    ExpectBroken(block.get(), nullptr, code);
    void* memory = nullptr;
    EXPECT_ACL(kRefused, aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_OK(aclrtDestroyContext(context));
    ASSERT_OK(aclrtSetCurrentContext(mine));
    EXPECT_OK(aclrtFree(block.release()));
    Mend(0);
    ExpectSound(nullptr);
  }
}

TEST_F(DeviceFault, QueuedTasksAreDroppedAndWaitersReleased) {
  DeviceBlock block(Filled(1));
  const aclrtContext context = CurrentContext();
  Stream stream;
  Hold held(stream.get());
  ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, 2, kSize, stream.get()));
  BlockedCall call(context, [&] { return aclrtSynchronizeStream(stream.get()); });
  EXPECT_FALSE(call.returned());
  Break(0);
  EXPECT_ACL(kFault, call.Join());
  EXPECT_EQ(held.Pending(), 0u);
  held.Release();
  EXPECT_EQ(block.Read(), Filled(1));
  EXPECT_OK(aclrtDestroyStream(stream.release()));
  EXPECT_OK(aclrtFree(block.release()));
  Mend(0);
}

TEST_F(DeviceFault, AnAbortAloneMendsNothing) {
  Break(0);
  SKIP_UNLESS_BUILT(aclrtDeviceTaskAbort(0, 0));
  void* memory = nullptr;
  EXPECT_ACL(kRefused, aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  Mend(0);
}

TEST_F(DeviceFault, OfTheOtherDevice) {
  DeviceBlock block(Filled(1));
  Break(1);
  ExpectSound(nullptr);
  void* memory = nullptr;
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_ACL(kRefused, aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(kFault, aclrtSynchronizeDevice());
  Mend(1);
  ExpectSound(nullptr);
  ASSERT_OK(aclrtSetDevice(0));
}

}  // namespace
}  // namespace conformance
