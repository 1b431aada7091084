// SPEC 20 §3, 21 §6: streams that stop on failure, and what a stopped context still does.
#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kSize = 256;
constexpr aclError kCode = ACL_ERROR_RT_AICORE_EXCEPTION, kSecond = ACL_ERROR_RT_VECTOR_CORE_TIMEOUT;

class FailureMode : public OnTwoDevices {};

TEST_F(FailureMode, IsSetOncePerStream) {
  Stream a, b, c;
  SKIP_UNLESS_BUILT(aclrtSetStreamFailureMode(a.get(), ACL_CONTINUE_ON_FAILURE));
  EXPECT_OK(aclrtSetStreamFailureMode(a.get(), ACL_CONTINUE_ON_FAILURE)) << "the same again";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamFailureMode(a.get(), ACL_STOP_ON_FAILURE));
  EXPECT_OK(aclrtSetStreamFailureMode(b.get(), ACL_STOP_ON_FAILURE));
  EXPECT_OK(aclrtSetStreamFailureMode(b.get(), ACL_STOP_ON_FAILURE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamFailureMode(b.get(), ACL_CONTINUE_ON_FAILURE));
  for (uint64_t mode : {uint64_t{2}, UINT64_MAX, uint64_t{1} << 32}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetStreamFailureMode(c.get(), mode)) << mode;
  }
}

TEST_F(FailureMode, DefaultStream) {
  SKIP_UNLESS_BUILT(aclrtSetStreamFailureMode(nullptr, ACL_CONTINUE_ON_FAILURE));
  EXPECT_OK(aclrtSetStreamFailureMode(nullptr, ACL_CONTINUE_ON_FAILURE))
      << "this product allows it since 9.0";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamFailureMode(nullptr, ACL_STOP_ON_FAILURE));
}

TEST_F(FailureMode, Handles) {
  Stream stream, dead;
  SKIP_UNLESS_BUILT(aclrtSetStreamFailureMode(stream.get(), ACL_CONTINUE_ON_FAILURE));
  const aclrtStream gone = dead.release();
  ASSERT_OK(aclrtDestroyStream(gone));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetStreamFailureMode(gone, 0));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetStreamFailureMode(UntouchedPointer(), 0));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetStreamFailureMode(stream.get(), 0));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetStreamFailureMode(nullptr, 0));
  });
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSetStreamFailureMode(stream.get(), 0));
  ASSERT_OK(aclrtSetDevice(0));
}

class StopOnFailure : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    aclrtStream probe = nullptr;
    ASSERT_OK(aclrtCreateStream(&probe));
    const aclError code = aclrtSetStreamFailureMode(probe, ACL_CONTINUE_ON_FAILURE);
    ASSERT_OK(aclrtDestroyStream(probe));
    SKIP_UNLESS_BUILT(code);
  }
  static void Set(const DeviceBlock& block, int value, aclrtStream stream) {
    ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, value, kSize, stream));
  }
  static Bytes Filled(int value) { return Bytes(kSize, static_cast<uint8_t>(value)); }
  static void Fail(const DeviceBlock& block, aclrtStream stream, aclError code = kCode) {
    FailNext(stream, code);
    Set(block, 99, stream);
  }
  static void Stop(aclrtStream stream) { ASSERT_OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE)); }
  // Every call that submits to or synchronises with a stream of the context.
  static void ExpectStopped(aclrtStream stream, aclError code) {
    DeviceBlock a(Filled(1)), b(Filled(2));
    PinnedBlock host(kSize);
    EXPECT_ACL(code, aclrtMemsetAsync(a.get(), kSize, 3, kSize, stream));
    EXPECT_ACL(code, aclrtMemcpyAsync(a.get(), kSize, host.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    EXPECT_ACL(code, aclrtMemcpyAsyncWithCondition(a.get(), kSize, b.get(), kSize,
                                                   ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    EXPECT_ACL(code,
               aclrtMemcpy2dAsync(a.get(), 16, host.get(), 16, 16, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    EXPECT_ACL(code, aclrtReduceAsync(a.get(), b.get(), kSize, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT,
                                      stream, nullptr));
    EXPECT_ACL(code, aclrtSynchronizeStream(stream));
    EXPECT_ACL(code, aclrtSynchronizeStreamWithTimeout(stream, 1000));
    EXPECT_ACL(code, aclrtSynchronizeStreamWithTimeout(stream, 0));
    EXPECT_ACL(code, aclrtSynchronizeDevice());
    EXPECT_ACL(code, aclrtSynchronizeDeviceWithTimeout(1000));
    auto status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_ACL(code, aclrtStreamQuery(stream, &status));
    EXPECT_EQ(status, ACL_STREAM_STATUS_RESERVED);
    EXPECT_EQ(a.Read(), Filled(1));
  }
};

TEST_F(StopOnFailure, StopsEveryStreamOfTheContext) {
  DeviceBlock failed(Filled(1)), behind(Filled(1)), beside(Filled(1)), done(Filled(1));
  Stream setter, failing, other;
  Stop(setter.get());
  Hold first(failing.get()), second(other.get());
  Set(done, 2, failing.get());
  Fail(failed, failing.get());
  Set(behind, 3, failing.get());
  Set(beside, 4, other.get());
  EXPECT_TRUE(first.Land());
  EXPECT_TRUE(first.Land());
  EXPECT_EQ(first.Pending(), 0u) << "what was queued is dropped";
  EXPECT_EQ(second.Pending(), 0u) << "in every stream of the context";
  first.Release();
  second.Release();
  for (aclrtStream stream : {setter.get(), failing.get(), other.get(), aclrtStream{nullptr}}) {
    ExpectStopped(stream, kCode);
  }
  EXPECT_EQ(done.Read(), Filled(2));
  EXPECT_EQ(failed.Read(), Filled(1));
  EXPECT_EQ(behind.Read(), Filled(1));
  EXPECT_EQ(beside.Read(), Filled(1));
}

TEST_F(StopOnFailure, SubmissionsOfEveryKindAreRefused) {
  DeviceBlock block(Filled(0));
  aclrtEvent event = nullptr, flag = nullptr;
  ASSERT_OK(aclrtCreateEvent(&event));
  Stream stream, subscribed;
  const bool reports = aclrtSubscribeReport(ReportId(), subscribed.get()) == ACL_SUCCESS;
  const bool flags = aclrtCreateEventWithFlag(&flag, ACL_EVENT_SYNC) == ACL_SUCCESS;
  Stop(stream.get());
  Fail(block, stream.get());
  ExpectStopped(stream.get(), kCode);
  EXPECT_ACL(kCode, aclrtRecordEvent(event, stream.get()));
  EXPECT_ACL(kCode, aclrtStreamWaitEvent(stream.get(), event));
  Counter count = 0;
  if (aclrtLaunchHostFunc(stream.get(), nullptr, nullptr) == ACL_ERROR_INVALID_PARAM) {
    EXPECT_ACL(kCode, aclrtLaunchHostFunc(stream.get(), &CountUp, &count));
  }
  if (reports) {
    EXPECT_ACL(kCode, aclrtLaunchCallback(&CountUp, &count, ACL_CALLBACK_BLOCK, subscribed.get()));
    EXPECT_ACL(kCode, aclrtLaunchCallback(&CountUp, &count, ACL_CALLBACK_NO_BLOCK, subscribed.get()));
    EXPECT_OK(aclrtUnSubscribeReport(ReportId(), subscribed.get()));
  }
  if (flags) {
    EXPECT_ACL(kCode, aclrtResetEvent(flag, stream.get()));
    EXPECT_OK(aclrtDestroyEvent(flag));
  }
  if (aclrtValueWrite(nullptr, 0, 0, stream.get()) == ACL_ERROR_INVALID_PARAM) {
    EXPECT_ACL(kCode, aclrtValueWrite(block.get(), 1, 0, stream.get()));
    EXPECT_ACL(kCode, aclrtValueWait(block.get(), 0, ACL_STREAM_WAIT_VALUE_GEQ, stream.get()));
  }
  void* memory = nullptr;
  ASSERT_OK(aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(kCode, aclrtFreeWithDevSync(memory)) << "it synchronises";
  EXPECT_EQ(count, 0);
  EXPECT_OK(aclrtDestroyEvent(event));
}

TEST_F(StopOnFailure, ArgumentsAreCheckedFirst) {
  DeviceBlock block(Filled(1));
  Stream stream;
  Stop(stream.get());
  Fail(block, stream.get());
  EXPECT_ACL(kCode, aclrtSynchronizeStream(stream.get()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemsetAsync(nullptr, kSize, 0, kSize, stream.get()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeStreamWithTimeout(stream.get(), -2));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(UntouchedPointer()));
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(stream.get())); });
}

TEST_F(StopOnFailure, KeepsTheFirstFailure) {
  DeviceBlock block(Filled(1)), other(Filled(1));
  Stream a, b;
  Stop(a.get());
  Hold held(b.get());
  Fail(other, b.get(), kSecond);
  Fail(block, a.get());
  EXPECT_ACL(kCode, aclrtSynchronizeStream(a.get()));
  held.Release();
  ExpectStopped(b.get(), kCode);
  // Every message leads back to the first failure.
  Message();
  EXPECT_EQ(aclrtMemsetAsync(block.get(), kSize, 1, kSize, b.get()), kCode);
  const std::string text = Message();
  EXPECT_NE(text.find(std::to_string(kCode)), std::string::npos) << text;
  EXPECT_NE(text.find("aclrtMemsetAsync"), std::string::npos) << text;
  EXPECT_EQ(Take(), kCode);
}

TEST_F(StopOnFailure, RecordsNeverComplete) {
  DeviceBlock block(Filled(1));
  aclrtEvent done = nullptr, dropped = nullptr;
  ASSERT_OK(aclrtCreateEvent(&done));
  ASSERT_OK(aclrtCreateEvent(&dropped));
  Stream stream;
  Stop(stream.get());
  ASSERT_OK(aclrtRecordEvent(done, stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  {
    Hold held(stream.get());
    Fail(block, stream.get());
    ASSERT_OK(aclrtRecordEvent(dropped, stream.get()));
    EXPECT_TRUE(held.Land());
    EXPECT_EQ(held.Pending(), 0u);
  }
  EXPECT_ACL(kCode, aclrtSynchronizeEvent(dropped));
  EXPECT_ACL(kCode, aclrtSynchronizeEventWithTimeout(dropped, 1000));
  auto status = static_cast<aclrtEventRecordedStatus>(77);
  const aclError code = aclrtQueryEventStatus(dropped, &status);
  EXPECT_ACL(kCode, code);
  EXPECT_NE(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_OK(aclrtDestroyEvent(done));
  EXPECT_OK(aclrtDestroyEvent(dropped));
}

TEST_F(StopOnFailure, BlockedThreadsAreReleased) {
  DeviceBlock block(Filled(1)), failed(Filled(1));
  const aclrtContext context = CurrentContext();
  aclrtEvent event = nullptr;
  ASSERT_OK(aclrtCreateEvent(&event));
  Stream failing, other;
  Stop(failing.get());
  Hold held(other.get()), trigger(failing.get());
  Set(block, 2, other.get());
  ASSERT_OK(aclrtRecordEvent(event, other.get()));
  Fail(failed, failing.get());
  {
    BlockedCall in_stream(context, [&] { return aclrtSynchronizeStream(other.get()); });
    BlockedCall in_event(context, [&] { return aclrtSynchronizeEvent(event); });
    BlockedCall in_device(context, [] { return aclrtSynchronizeDevice(); });
    EXPECT_FALSE(in_stream.returned() || in_event.returned() || in_device.returned());
    EXPECT_TRUE(trigger.Land());
    EXPECT_ACL(kCode, in_stream.Join());
    EXPECT_ACL(kCode, in_event.Join());
    EXPECT_ACL(kCode, in_device.Join());
  }
  EXPECT_EQ(block.Read(), Filled(1));
  EXPECT_OK(aclrtDestroyEvent(event));
}

TEST_F(StopOnFailure, CallbacksBehindItAreDropped) {
  Counter count = 0;
  DeviceBlock block(Filled(1));
  Stream stream, other;
  Stop(stream.get());
  Hold held(stream.get()), beside(other.get());
  Fail(block, stream.get());
  SKIP_UNLESS_BUILT(aclrtLaunchHostFunc(stream.get(), &CountUp, &count));
  ASSERT_OK(aclrtLaunchHostFunc(other.get(), &CountUp, &count));
  Stream subscribed;
  Hold third(subscribed.get());
  ASSERT_OK(aclrtSubscribeReport(ReportId(), subscribed.get()));
  ASSERT_OK(aclrtLaunchCallback(&CountUp, &count, ACL_CALLBACK_NO_BLOCK, subscribed.get()));
  EXPECT_TRUE(held.Land());
  EXPECT_ACL(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(1));
  held.Release();
  beside.Release();
  third.Release();
  EXPECT_ACL(kCode, aclrtSynchronizeDevice());
  EXPECT_ACL(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(1));
  EXPECT_EQ(count, 0);
  EXPECT_OK(aclrtUnSubscribeReport(ReportId(), subscribed.get()));
}

TEST_F(StopOnFailure, HostCallsStillWork) {
  DeviceBlock block(Filled(1));
  aclrtEvent event = nullptr;
  ASSERT_OK(aclrtCreateEvent(&event));
  Stream stream;
  Stop(stream.get());
  Fail(block, stream.get());
  EXPECT_ACL(kCode, aclrtSynchronizeStream(stream.get()));
  int32_t id = -1;
  uint32_t flags = 77;
  EXPECT_OK(aclrtStreamGetId(stream.get(), &id));
  EXPECT_OK(aclrtStreamGetFlags(stream.get(), &flags));
  EXPECT_EQ(Take(), kCode);
  EXPECT_EQ(Take(), ACL_SUCCESS);
  {
    DeviceBlock more(Filled(5));
    Stream made;
    EXPECT_EQ(more.Read(), Filled(5)) << "synchronous copies are no submissions";
    EXPECT_ACL(kCode, aclrtSynchronizeStream(made.get())) << "a new stream of a stopped context";
  }
  EXPECT_OK(aclrtDestroyEvent(event));
  EXPECT_OK(aclrtDestroyStream(stream.release()));
  ExpectStopped(nullptr, kCode);
}

TEST_F(StopOnFailure, OtherContextsGoOn) {
  DeviceBlock block(Filled(1)), failed(Filled(1));
  const aclrtContext mine = CurrentContext();
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  DeviceBlock beside(Filled(1));
  ASSERT_OK(aclrtSetCurrentContext(mine));
  Stream stream;
  Stop(stream.get());
  Fail(block, stream.get());
  ExpectStopped(stream.get(), kCode);
  ASSERT_OK(aclrtSetCurrentContext(context));
  Set(beside, 2, nullptr);
  EXPECT_OK(aclrtSynchronizeStream(nullptr)) << "the same device";
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(beside.Read(), Filled(2));
  Fail(failed, nullptr, kSecond);
  Set(beside, 3, nullptr);
  EXPECT_ACL(kSecond, aclrtSynchronizeStream(nullptr)) << "its streams still continue on failure";
  EXPECT_EQ(beside.Read(), Filled(3));
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_OK(aclrtSynchronizeDevice());
  ASSERT_OK(aclrtSetCurrentContext(mine));
  ExpectStopped(stream.get(), kCode);
  EXPECT_OK(aclrtDestroyContext(context));
}

TEST_F(StopOnFailure, EndsWithTheContext) {
  const aclrtContext mine = CurrentContext();
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  DeviceBlock block(Filled(1));
  Stop(nullptr);
  Fail(block, nullptr);
  ExpectStopped(nullptr, kCode);
  EXPECT_OK(aclrtDestroyContext(context));
  ASSERT_OK(aclrtCreateContext(&context, 0));
  Set(block, 2, nullptr);
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(block.Read(), Filled(2));
  EXPECT_OK(aclrtDestroyContext(context));
  ASSERT_OK(aclrtSetCurrentContext(mine));
}

TEST_F(StopOnFailure, EndsWithTheDevice) {
  for (auto reset : {&aclrtResetDevice, &aclrtResetDeviceForce}) {
    {
      DeviceBlock block(Filled(1));
      Stop(nullptr);
      Fail(block, nullptr);
      ExpectStopped(nullptr, kCode);
    }
    EXPECT_OK(reset(0));
    ASSERT_OK(aclrtSetDevice(0));
    DeviceBlock block(Filled(1));
    Set(block, 2, nullptr);
    EXPECT_OK(aclrtSynchronizeDevice());
    EXPECT_EQ(block.Read(), Filled(2));
  }
}

TEST_F(StopOnFailure, EndsWithATaskAbort) {
  DeviceBlock block(Filled(1)), beside(Filled(1));
  Stream stream;
  Stop(stream.get());
  for (int round = 0; round < 2; ++round) {
    Fail(block, stream.get());
    ExpectStopped(stream.get(), kCode);
    SKIP_UNLESS_BUILT(aclrtDeviceTaskAbort(0, 0));
    Set(block, 2 + round, stream.get());
    Set(beside, 2 + round, nullptr);
    EXPECT_OK(aclrtSynchronizeDevice()) << "the same streams go on";
    EXPECT_EQ(block.Read(), Filled(2 + round));
    EXPECT_EQ(beside.Read(), Filled(2 + round));
  }
}

}  // namespace
}  // namespace conformance
