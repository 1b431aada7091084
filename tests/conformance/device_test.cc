// SPEC 10 §3.3, §3.4, §4: devices and their counts.
#include "support.h"

namespace conformance {
namespace {

int Active(int device) {
  int32_t active = -7;
  EXPECT_OK(aclrtGetPrimaryCtxState(device, nullptr, &active));
  return active;
}

int Current() {
  int32_t device = -7;
  EXPECT_OK(aclrtGetDevice(&device));
  return device;
}

aclrtContext CurrentContext() {
  aclrtContext context = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&context));
  return context;
}

class DeviceQuery : public Clean {};

TEST_F(DeviceQuery, WorksWithoutADevice) {
  EXPECT_EQ(DeviceCount(), 8);
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910B3");
  aclrtRunMode mode = ACL_DEVICE;
  EXPECT_OK(aclrtGetRunMode(&mode));
  EXPECT_EQ(mode, ACL_HOST);
  int32_t major = -1, minor = -1, patch = -1;
  EXPECT_OK(aclrtGetVersion(&major, &minor, &patch));
  EXPECT_EQ(major, 1);
  EXPECT_EQ(minor, 15);
  EXPECT_EQ(patch, 0);
}

TEST_F(DeviceQuery, NullOutputs) {
  int32_t value = -7;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceCount(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetRunMode(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDevice(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetCurrentContext(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetPrimaryCtxState(0, nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetVersion(nullptr, &value, &value));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetVersion(&value, nullptr, &value));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetVersion(&value, &value, nullptr));
  EXPECT_EQ(value, -7);
}

TEST_F(DeviceQuery, NothingIsCurrentAtFirst) {
  int32_t device = -7;
  aclrtContext context = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&context));
  EXPECT_EQ(device, -7);
  EXPECT_EQ(context, UntouchedPointer());
}

TEST_F(DeviceQuery, PrimaryContextState) {
  EXPECT_EQ(Active(0), 0) << "asking does not create it";
  EXPECT_EQ(Active(0), 0);
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_EQ(Active(0), 1);
  EXPECT_EQ(Active(1), 0);
  uint32_t flags = 77;
  int32_t active = -7;
  EXPECT_OK(aclrtGetPrimaryCtxState(0, &flags, &active)) << "reserved, but allowed";
  EXPECT_EQ(flags, 0u);
  for (int bad : {8, -1})
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetPrimaryCtxState(bad, nullptr, &active));
}

class DeviceSelect : public Clean {};

TEST_F(DeviceSelect, SwitchesTheCallingThread) {
  ASSERT_OK(aclrtSetDevice(3));
  EXPECT_EQ(Current(), 3);
  const aclrtContext three = CurrentContext();
  ASSERT_OK(aclrtSetDevice(5));
  EXPECT_EQ(Current(), 5);
  EXPECT_NE(CurrentContext(), three);
  ASSERT_OK(aclrtSetDevice(3));
  EXPECT_EQ(CurrentContext(), three) << "one default context for a device";
  OnNewThread([&] {
    int32_t device = -7;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device)) << "not inherited";
    ASSERT_OK(aclrtSetDevice(3));
    EXPECT_EQ(CurrentContext(), three) << "shared by all threads";
    ASSERT_OK(aclrtSetDevice(5));
  });
  EXPECT_EQ(Current(), 3) << "another thread's choice changes nothing here";
}

TEST_F(DeviceSelect, BadIdsChangeNothing) {
  for (auto select : {&aclrtSetDevice, &aclrtSetDeviceWithoutTsdVXX}) {
    for (int bad : {8, 99, -1, INT32_MIN}) {
      EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, select(bad)) << bad;
    }
  }
  int32_t device = -7;
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  ASSERT_OK(aclrtSetDevice(2));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(99));
  EXPECT_EQ(Current(), 2);
  for (int bad : {8, -1}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDevice(bad));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDeviceForce(bad));
  }
}

// S = SetDevice(0), R = ResetDevice(0), F = ResetDeviceForce(0); small letters must fail.
class DeviceCounting : public Clean, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Sequences, DeviceCounting,
                         testing::Values("r", "f", "SR", "SRr", "SRf", "SRSF", "SSRF", "SFSF", "SSF", "SSRRf",
                                         "SSRFr", "SFf", "SFr", "SSSRRRr", "SSFrSRf"));

TEST_P(DeviceCounting, FollowsTheTable) {
  int count = 0;
  for (const char* step = GetParam(); *step != 0; ++step) {
    switch (*step) {
      case 'S':
        EXPECT_OK(count % 2 == 0 ? aclrtSetDevice(0) : aclrtSetDeviceWithoutTsdVXX(0));
        ++count;
        break;
      case 'R':
        EXPECT_OK(aclrtResetDevice(0));
        --count;
        break;
      case 'F':
        EXPECT_OK(aclrtResetDeviceForce(0));
        count = 0;
        break;
      case 'r':
        EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
        break;
      case 'f':
        EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDeviceForce(0));
        break;
    }
    EXPECT_EQ(Active(0), count > 0 ? 1 : 0) << "after step " << step - GetParam() << " of " << GetParam();
  }
}

TEST_F(DeviceSelect, CountIsSharedByThreads) {
  OnNewThread([] {
    ASSERT_OK(aclrtSetDevice(0));
    ASSERT_OK(aclrtResetDeviceForce(0));
  });
  OnNewThread([] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDeviceForce(0)); });
  OnNewThread([] { ASSERT_OK(aclrtSetDevice(0)); });
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_EQ(Current(), 0) << "the other thread still counts, though it ended";
  EXPECT_OK(aclrtResetDevice(0));
}

TEST_F(DeviceSelect, ReleaseEndsEverybodysBinding) {
  ASSERT_OK(aclrtSetDevice(0));
  Stream stream;
  const aclrtContext old = CurrentContext();
  OnNewThread([] { EXPECT_OK(aclrtResetDevice(0)) << "from a thread that never selected it"; });
  int32_t device = -7;
  void* ptr = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetCurrentContext(old));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_NE(CurrentContext(), old) << "old handles never become valid again";
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream.release()));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetCurrentContext(old));
}

TEST_F(DeviceSelect, ResetOfAnotherDeviceKeepsTheBinding) {
  ASSERT_OK(aclrtSetDevice(1));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtResetDevice(1));
  EXPECT_EQ(Current(), 0);
  EXPECT_OK(aclrtSynchronizeDevice());
}

TEST_F(DeviceSelect, ResetWaitsForTasks) {
  for (auto reset : {&aclrtResetDevice, &aclrtResetDeviceForce}) {
    ASSERT_OK(aclrtSetDevice(0));
    const size_t size = 4 * kMiB;
    PinnedBlock out(size);
    void* block = nullptr;
    aclrtStream stream = nullptr;
    ASSERT_OK(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));  // LEAK
    ASSERT_OK(aclrtCreateStream(&stream));
    ASSERT_OK(aclrtMemsetAsync(block, size, 0x31, size, stream));
    ASSERT_OK(aclrtMemcpyAsync(out.get(), size, block, size, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    EXPECT_OK(reset(0));
    EXPECT_TRUE(out.Read() == Bytes(size, 0x31));
    ASSERT_OK(aclrtSetDevice(0));  // the pinned block is freed under a context
    EXPECT_OK(aclrtFreeHost(out.release()));
    ASSERT_OK(aclrtResetDeviceForce(0));
  }
}

}  // namespace
}  // namespace conformance
