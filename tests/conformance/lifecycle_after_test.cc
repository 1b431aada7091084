// SPEC 10 §2.3: what the calls answer after the last finalise. Every test here needs a process of its own.
#include <unistd.h>

#include "support.h"

namespace conformance {
namespace {

constexpr aclError kGone = ACL_ERROR_UNINITIALIZE;

TEST(Lifecycle, AfterFinalise) {
  ASSERT_OK(aclInit(nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  void *block = nullptr, *pinned = nullptr, *unused = UntouchedPointer();
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtGetCurrentContext(&context));
  ASSERT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));  // LEAK
  ASSERT_OK(aclrtMallocHost(&pinned, 64));                        // LEAK
  ASSERT_OK(aclrtCreateStream(&stream));                          // LEAK
  ASSERT_OK(aclrtCreateEvent(&event));                            // LEAK
  ASSERT_OK(aclFinalize());

  // Frees of memory that outlived the runtime are taken and do nothing; a null pointer stays an error.
  for (auto release : {&aclrtFree, &aclrtFreeWithDevSync}) {
    EXPECT_OK(release(block));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, release(nullptr));
  }
  for (auto release : {&aclrtFreeHost, &aclrtFreeHostWithDevSync}) {
    EXPECT_OK(release(pinned));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, release(nullptr));
  }

  uint8_t host[64] = {};
  uint32_t count = 77;
  int32_t number = -7;
  size_t size = kUntouched;
  aclrtRunMode mode = ACL_HOST;
  aclrtStreamStatus stream_status = ACL_STREAM_STATUS_RESERVED;
  aclrtEventStatus event_status = ACL_EVENT_STATUS_RESERVED;
  auto recorded = static_cast<aclrtEventRecordedStatus>(77);
  aclrtEventWaitStatus waited = ACL_EVENT_WAIT_STATUS_RESERVED;
  const auto h2d = ACL_MEMCPY_HOST_TO_DEVICE;
  const auto policy = ACL_MEM_MALLOC_HUGE_FIRST;

  EXPECT_ACL(kGone, aclrtGetDeviceCount(&count));
  EXPECT_ACL(kGone, aclrtGetRunMode(&mode));
  EXPECT_ACL(kGone, aclrtSetDevice(0));
  EXPECT_ACL(kGone, aclrtSetDevice(99)) << "the state comes before the arguments";
  EXPECT_ACL(kGone, aclrtSetDeviceWithoutTsdVXX(0));
  EXPECT_ACL(kGone, aclrtResetDevice(0));
  EXPECT_ACL(kGone, aclrtResetDeviceForce(0));
  EXPECT_ACL(kGone, aclrtGetDevice(&number));
  EXPECT_ACL(kGone, aclrtGetDevice(nullptr));
  EXPECT_ACL(kGone, aclrtSynchronizeDevice());
  EXPECT_ACL(kGone, aclrtSynchronizeDeviceWithTimeout(1));
  EXPECT_ACL(kGone, aclrtCreateContext(&unused, 0));
  EXPECT_ACL(kGone, aclrtDestroyContext(context));
  EXPECT_ACL(kGone, aclrtSetCurrentContext(context));
  EXPECT_ACL(kGone, aclrtGetCurrentContext(&unused));
  EXPECT_ACL(kGone, aclrtCtxGetCurrentDefaultStream(&unused));
  EXPECT_ACL(kGone, aclrtGetPrimaryCtxState(0, nullptr, &number));
  EXPECT_ACL(kGone, aclrtCreateStream(&unused));
  EXPECT_ACL(kGone, aclrtCreateStreamWithConfig(&unused, 0, 0));
  EXPECT_ACL(kGone, aclrtDestroyStream(stream));
  EXPECT_ACL(kGone, aclrtSynchronizeStream(stream));
  EXPECT_ACL(kGone, aclrtSynchronizeStreamWithTimeout(stream, 1));
  EXPECT_ACL(kGone, aclrtStreamQuery(stream, &stream_status));
  EXPECT_ACL(kGone, aclrtStreamGetId(stream, &number));
  EXPECT_ACL(kGone, aclrtGetStreamAvailableNum(&count));
  EXPECT_ACL(kGone, aclrtStreamGetPriority(stream, &count));
  EXPECT_ACL(kGone, aclrtStreamGetFlags(stream, &count));
  EXPECT_ACL(kGone, aclrtCreateEvent(&unused));
  EXPECT_ACL(kGone, aclrtCreateEventExWithFlag(&unused, ACL_EVENT_SYNC));
  EXPECT_ACL(kGone, aclrtRecordEvent(event, nullptr));
  EXPECT_ACL(kGone, aclrtStreamWaitEvent(nullptr, event));
  EXPECT_ACL(kGone, aclrtQueryEvent(event, &event_status));
  EXPECT_ACL(kGone, aclrtQueryEventStatus(event, &recorded));
  EXPECT_ACL(kGone, aclrtQueryEventWaitStatus(event, &waited));
  EXPECT_ACL(kGone, aclrtSynchronizeEvent(event));
  EXPECT_ACL(kGone, aclrtSynchronizeEventWithTimeout(event, 1));
  EXPECT_ACL(kGone, aclrtDestroyEvent(event));
  EXPECT_ACL(kGone, aclrtGetMemInfo(ACL_HBM_MEM, &size, &size));
  EXPECT_ACL(kGone, aclrtMalloc(&unused, 64, policy));
  EXPECT_ACL(kGone, aclrtMallocAlign32(&unused, 64, policy));
  EXPECT_ACL(kGone, aclrtMallocCached(&unused, 64, policy));
  EXPECT_ACL(kGone, aclrtMallocWithCfg(&unused, 64, policy, nullptr));
  EXPECT_ACL(kGone, aclrtMallocForTaskScheduler(&unused, 64, policy, nullptr));
  EXPECT_ACL(kGone, aclrtMallocHost(&unused, 64));
  EXPECT_ACL(kGone, aclrtMallocHostWithCfg(&unused, 64, nullptr));
  EXPECT_ACL(kGone, aclrtHostRegister(pinned, 64, ACL_HOST_REGISTER_MAPPED, &unused));
  EXPECT_ACL(kGone, aclrtHostUnregister(pinned));
  EXPECT_ACL(kGone, aclrtMemFlush(block, 64));
  EXPECT_ACL(kGone, aclrtMemInvalidate(block, 64));
  EXPECT_ACL(kGone, aclrtMemGetAddressRange(block, &unused, &size));
  EXPECT_ACL(kGone, aclrtMemcpy(block, 64, host, 64, h2d));
  EXPECT_ACL(kGone, aclrtMemcpy(nullptr, 0, nullptr, 0, h2d));
  EXPECT_ACL(kGone, aclrtMemcpyAsync(block, 64, host, 64, h2d, stream));
  EXPECT_ACL(kGone, aclrtMemcpyAsyncWithCondition(block, 64, host, 64, h2d, stream));
  EXPECT_ACL(kGone, aclrtMemcpy2d(block, 8, host, 8, 8, 8, h2d));
  EXPECT_ACL(kGone, aclrtMemcpy2dAsync(block, 8, host, 8, 8, 8, h2d, stream));
  EXPECT_ACL(kGone, aclrtMemset(block, 64, 0, 64));
  EXPECT_ACL(kGone, aclrtMemsetAsync(block, 64, 0, 64, stream));
  EXPECT_ACL(kGone, aclrtDeviceCanAccessPeer(&number, 0, 1));
  EXPECT_ACL(kGone, aclrtDeviceEnablePeerAccess(1, 0));
  EXPECT_ACL(kGone, aclrtDeviceDisablePeerAccess(1));
  EXPECT_ACL(kGone, aclrtDevicePeerAccessStatus(0, 1, &number));
  EXPECT_ACL(kGone, aclrtMemP2PMap(block, 64, 1, 0));
  EXPECT_EQ(unused, UntouchedPointer());
  EXPECT_EQ(size, kUntouched);
  EXPECT_EQ(number, -7);
  EXPECT_EQ(count, 77u);

  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), kGone);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), kGone);
  EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  int32_t major = 0, minor = 0, patch = 0;
  EXPECT_OK(aclrtGetVersion(&major, &minor, &patch));
}

// Armed by the test; its destructor runs after main has returned.
struct Late {
  ~Late() {
    if (stream == nullptr) return;
    const bool fine = aclrtDestroyStream(stream) == kGone && aclrtFree(block) == ACL_SUCCESS &&
                      aclrtSetDevice(0) == kGone && aclGetRecentErrMsg() != nullptr;
    if (!fine) _exit(3);
  }
  aclrtStream stream = nullptr;
  void* block = nullptr;
} late;

TEST(Lifecycle, StaticDestructorsMayCall) {
  ASSERT_OK(aclInit(nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  ASSERT_OK(aclrtCreateStream(&late.stream));                          // LEAK
  ASSERT_OK(aclrtMalloc(&late.block, 64, ACL_MEM_MALLOC_HUGE_FIRST));  // LEAK
  ASSERT_OK(aclFinalize());
}

}  // namespace
}  // namespace conformance
