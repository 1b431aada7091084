// SPEC 20 §2, 10 §4.2, §6: what becomes of streams and handles when their context or device goes.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

class StreamLifetime : public OnTwoDevices {};

TEST_F(StreamLifetime, AContextTakesItsStreamsAlong) {
  const size_t size = 4 * kMiB;
  DeviceBlock block(Bytes(size, 1));
  aclrtStream stream = nullptr, by_default = nullptr;
  InOtherContext([&] {
    ASSERT_OK(aclrtCreateStream(&stream));
    ASSERT_OK(aclrtCtxGetCurrentDefaultStream(&by_default));
    ASSERT_OK(FillAsync(block, 2, stream));
  });
  EXPECT_TRUE(Holds(block, 2)) << "it waits for the tasks";
  for (aclrtStream gone : {stream, by_default}) {
    int32_t id = -7;
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(gone));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(gone));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamGetId(gone, &id));
    EXPECT_EQ(id, -7);
  }
}

TEST_F(StreamLifetime, ADeviceTakesEveryContextAlong) {
  void* block = nullptr;
  PinnedBlock out(kSize);
  std::memset(out.get(), 1, kSize);
  ASSERT_OK(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST));  // LEAK
  aclrtStream mine = nullptr, explicit_one = nullptr, elsewhere = nullptr;
  aclrtContext context = nullptr, before = CurrentContext();
  ASSERT_OK(aclrtCreateStream(&mine));
  ASSERT_OK(aclrtCreateContext(&context, 0));
  ASSERT_OK(aclrtCreateStream(&explicit_one));
  ASSERT_OK(aclrtMemsetAsync(block, kSize, 9, kSize, explicit_one));
  ASSERT_OK(aclrtMemcpyAsync(out.get(), kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST, explicit_one));
  ASSERT_OK(aclrtSetDevice(1));
  ASSERT_OK(aclrtCreateStream(&elsewhere));
  ASSERT_OK(aclrtSetCurrentContext(before));
  ASSERT_OK(aclrtResetDeviceForce(0));
  EXPECT_EQ(out.Read(), Bytes(kSize, 9)) << "it waits for the tasks";
  ASSERT_OK(aclrtSetDevice(0));
  for (aclrtStream gone : {mine, explicit_one}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(gone));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(gone));
  }
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_OK(aclrtSynchronizeStream(elsewhere));
  EXPECT_OK(aclrtDestroyStream(elsewhere));
}

// SPEC 20 §0.1 E7: a handle of another kind.
TEST_F(StreamLifetime, HandlesOfAnotherKind) {
  Stream stream;
  Event event = PlainEvent();
  Notify notify;
  aclrtContext context = CurrentContext();
  for (void* wrong : {static_cast<void*>(event.get()), static_cast<void*>(notify.get()), context}) {
    auto status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(wrong));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(wrong));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamQuery(wrong, &status));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(event.get(), wrong));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamAbort(wrong));
  }
  for (void* wrong : {static_cast<void*>(stream.get()), static_cast<void*>(notify.get()), context}) {
    auto status = static_cast<aclrtEventRecordedStatus>(77);
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(wrong));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(wrong, stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamWaitEvent(stream.get(), wrong));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeEvent(wrong));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtQueryEventStatus(wrong, &status));
  }
  for (void* wrong : {static_cast<void*>(stream.get()), static_cast<void*>(event.get()), context}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyNotify(wrong));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordNotify(wrong, stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtWaitAndResetNotify(wrong, stream.get(), 0));
  }
  EXPECT_OK(aclrtSynchronizeStream(stream.get())) << "each is still alive";
  EXPECT_OK(aclrtSynchronizeEvent(event.get()));
}

}  // namespace
}  // namespace conformance
