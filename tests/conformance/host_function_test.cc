// SPEC 21 §3: host functions, and §3.1: what a body that a stream runs may do.
#include <stdexcept>

#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kSize = 256;

// A body made of a lambda; it must live until the stream ran it.
using Body = std::function<void()>;
void Call(void* body) {
  (*static_cast<Body*>(body))();
}
aclError Launch(aclrtStream stream, Body& body) {
  return aclrtLaunchHostFunc(stream, &Call, &body);
}

class HostFunction : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    SKIP_UNLESS_BUILT(aclrtLaunchHostFunc(nullptr, nullptr, nullptr));
    Take();
    Message();
  }
  static void Set(const DeviceBlock& block, int value, aclrtStream stream) {
    ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, value, kSize, stream));
  }
  static Bytes Filled(int value) { return Bytes(kSize, static_cast<uint8_t>(value)); }
};

TEST_F(HostFunction, LaunchingIsChecked) {
  Counter count = 0;
  Stream stream;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtLaunchHostFunc(stream.get(), nullptr, &count));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtLaunchHostFunc(nullptr, nullptr, &count));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtLaunchHostFunc(stream.get(), nullptr, &count)) << "comes first";
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtLaunchHostFunc(stream.get(), &CountUp, &count));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtLaunchHostFunc(nullptr, &CountUp, &count));
  });
  Stream dead;
  const aclrtStream gone = dead.release();
  ASSERT_OK(aclrtDestroyStream(gone));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtLaunchHostFunc(gone, &CountUp, &count));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtLaunchHostFunc(UntouchedPointer(), &CountUp, &count));
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtLaunchHostFunc(stream.get(), &CountUp, &count));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(count, 0) << "a refused function never runs";
}

TEST_F(HostFunction, NotOnAStreamWithAThreadOfItsOwn) {
  Counter count = 0;
  Stream stream;
  ASSERT_OK(aclrtSubscribeReport(ReportId(), stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchHostFunc(stream.get(), &CountUp, &count));
  ASSERT_OK(aclrtUnSubscribeReport(ReportId(), stream.get()));
  EXPECT_OK(aclrtLaunchHostFunc(stream.get(), &CountUp, &count));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(count, 1);
}

TEST_F(HostFunction, SubscribingWaitsForAnIdleStream) {
  Gate gate;
  Stream stream;
  Opener opener{gate};
  ASSERT_OK(aclrtLaunchHostFunc(stream.get(), &Gate::Body, &gate));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSubscribeReport(ReportId(), stream.get()));
  gate.go.Set();
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_OK(aclrtSubscribeReport(ReportId(), stream.get()));
  EXPECT_OK(aclrtUnSubscribeReport(ReportId(), stream.get()));
}

TEST_F(HostFunction, RunsOnAThreadOfTheRuntimeWithoutAContext) {
  const std::thread::id self = std::this_thread::get_id();
  const aclrtContext mine = CurrentContext();
  Stream stream;
  for (int round = 0; round < 3; ++round) {
    std::thread::id thread;
    int32_t device = -7;
    aclrtContext context = UntouchedPointer();
    aclError codes[3] = {-1, -1, -1};
    Body body = [&] {
      thread = std::this_thread::get_id();
      codes[0] = aclrtGetDevice(&device);
      codes[1] = aclrtGetCurrentContext(&context);
      codes[2] = aclrtSetCurrentContext(mine);  // not left to the next body
    };
    ASSERT_OK(Launch(stream.get(), body));
    ASSERT_OK(aclrtSynchronizeStream(stream.get()));
    EXPECT_NE(thread, self);
    EXPECT_NE(thread, std::thread::id());
    EXPECT_EQ(codes[0], ACL_ERROR_RT_CONTEXT_NULL) << "round " << round;
    EXPECT_EQ(codes[1], ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(codes[2], ACL_SUCCESS);
    EXPECT_EQ(device, -7);
    EXPECT_EQ(context, UntouchedPointer());
  }
}

TEST_F(HostFunction, StandsInStreamOrder) {
  DeviceBlock block(Filled(1));
  PinnedBlock out(Filled(0));
  Bytes seen;
  Gate gate;
  Body look = [&] { seen = out.Read(); };
  Stream stream;
  Opener opener{gate};
  Set(block, 2, stream.get());
  ASSERT_OK(aclrtMemcpyAsync(out.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
  ASSERT_OK(Launch(stream.get(), look));
  ASSERT_OK(aclrtLaunchHostFunc(stream.get(), &Gate::Body, &gate));
  Set(block, 3, stream.get());
  ASSERT_TRUE(RunUntil(stream.get(), gate.entered));
  EXPECT_EQ(seen, Filled(2)) << "everything before is done";
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream.get(), 0));
  EXPECT_EQ(block.Read(), Filled(2)) << "what follows waits";
  gate.go.Set();
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Filled(3));
}

TEST_F(HostFunction, WhatItWritesIsSeenByLaterTasks) {
  PinnedBlock in(Filled(0));
  DeviceBlock block(Filled(1));
  Stream stream;
  for (int i = 2; i < 20; ++i) {
    Body fill = [&, i] { std::memset(in.get(), i, kSize); };
    ASSERT_OK(Launch(stream.get(), fill));
    ASSERT_OK(aclrtMemcpyAsync(block.get(), kSize, in.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
    ASSERT_OK(aclrtSynchronizeStream(stream.get()));
    EXPECT_EQ(block.Read(), Filled(i));
  }
}

TEST_F(HostFunction, ArgumentsAreTheCallers) {
  Stream stream;
  void* seen = UntouchedPointer();
  static void* passed;
  passed = UntouchedPointer();
  const auto note = [](void* args) { passed = args; };
  EXPECT_OK(aclrtLaunchHostFunc(stream.get(), note, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(passed, nullptr);
  EXPECT_OK(aclrtLaunchHostFunc(nullptr, note, &seen)) << "the default stream";
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(passed, &seen);
}

TEST_F(HostFunction, ManyInOrder) {
  constexpr int kMany = 500;
  std::vector<int> order;
  std::vector<Body> bodies;
  bodies.reserve(kMany);
  Stream stream;
  for (int i = 0; i < kMany; ++i) {
    bodies.emplace_back([&order, i] { order.push_back(i); });
    ASSERT_OK(Launch(stream.get(), bodies.back()));
  }
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  ASSERT_EQ(order.size(), size_t{kMany});
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(order[i], i);
}

// More bodies than any pool has threads, each of which waits for all the others.
TEST_F(HostFunction, BodiesOfManyStreamsMayWaitForEachOther) {
  constexpr int kStreams = 40;
  std::mutex mutex;
  std::condition_variable everybody;  // woken by the last to arrive
  int inside = 0;
  Body meet = [&] {
    std::unique_lock lock(mutex);
    if (++inside == kStreams) everybody.notify_all();
    everybody.wait(lock, [&] { return inside == kStreams; });
  };
  Stream streams[kStreams];
  for (int round = 0; round < 2; ++round) {
    inside = 0;
    for (const Stream& stream : streams) ASSERT_OK(Launch(stream.get(), meet));
    for (const Stream& stream : streams) ASSERT_OK(aclrtSynchronizeStream(stream.get()));
    EXPECT_EQ(inside, kStreams);
  }
}

TEST_F(HostFunction, BodiesOfTwoDevicesMayWaitForEachOther) {
  Gate gate;
  Body open = [&] { gate.go.Set(); };
  Stream here;
  Opener opener{gate};
  ASSERT_OK(aclrtLaunchHostFunc(here.get(), &Gate::Body, &gate));
  ASSERT_OK(aclrtSetDevice(1));
  ASSERT_OK(Launch(nullptr, open));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtSynchronizeStream(here.get()));
  EXPECT_EQ(gate.passed, 1);
}

TEST_F(HostFunction, ABodyHoldsNoOtherStream) {
  Gate gate;
  Stream blocked, other;
  Opener opener{gate};
  DeviceBlock block(Filled(1));
  ASSERT_OK(aclrtLaunchHostFunc(blocked.get(), &Gate::Body, &gate));
  for (int i = 2; i < 10; ++i) {
    Set(block, i, other.get());
    ASSERT_OK(aclrtSynchronizeStream(other.get()));
    EXPECT_EQ(block.Read(), Filled(i));
  }
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_OK(aclrtStreamQuery(blocked.get(), &status));
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  gate.go.Set();
  EXPECT_OK(aclrtSynchronizeDevice());
}

TEST_F(HostFunction, ThrowingBodiesDoNoHarm) {
  DeviceBlock block(Filled(1));
  Body raise = [] { throw std::runtime_error("from a host function"); };
  Stream stream;
  ASSERT_OK(Launch(stream.get(), raise));
  Set(block, 2, stream.get());
  EXPECT_OK(aclrtSynchronizeStream(stream.get())) << "the task counts as successful";
  EXPECT_EQ(block.Read(), Filled(2));
}

// SPEC 21 §3.1
class CallbackRules : public HostFunction {
 protected:
  // Runs `inner` in a host function of the stream, before another task, with this thread's context current in
  // it.
  void RunInside(aclrtStream stream, const std::function<void()>& inner) {
    const aclrtContext context = CurrentContext();
    DeviceBlock block(Filled(1));
    Body body = [&] {
      EXPECT_OK(aclrtSetCurrentContext(context));
      inner();
    };
    ASSERT_OK(Launch(stream, body));
    Set(block, 2, stream);
    EXPECT_OK(aclrtSynchronizeStream(stream));
    EXPECT_EQ(block.Read(), Filled(2));
  }
};

TEST_F(CallbackRules, WaitingForTheOwnStreamIsRefused) {
  const aclError refused = ACL_ERROR_RT_PARAM_INVALID;
  aclrtEvent before = nullptr, after = nullptr;
  ASSERT_OK(aclrtCreateEvent(&before));
  ASSERT_OK(aclrtCreateEvent(&after));
  Flag recorded;
  const aclrtContext context = CurrentContext();
  Stream own;
  Body body = [&] {
    recorded.Wait();
    EXPECT_OK(aclrtSetCurrentContext(context));
    EXPECT_ACL(refused, aclrtSynchronizeStream(own.get()));
    EXPECT_ACL(refused, aclrtSynchronizeStreamWithTimeout(own.get(), -1));
    EXPECT_ACL(refused, aclrtSynchronizeStreamWithTimeout(own.get(), 60'000));
    EXPECT_ACL(refused, aclrtSynchronizeDevice());
    EXPECT_ACL(refused, aclrtSynchronizeDeviceWithTimeout(-1));
    EXPECT_ACL(refused, aclrtSynchronizeEvent(after));
    EXPECT_ACL(refused, aclrtSynchronizeEventWithTimeout(after, -1));
    EXPECT_OK(aclrtSynchronizeEvent(before)) << "it has happened: nothing to wait for";
    EXPECT_ACL(refused, aclrtDestroyStream(own.get()));
    EXPECT_ACL(refused, aclrtResetDeviceForce(0));
    EXPECT_EQ(Take(), refused);
    EXPECT_NE(Message(), "");
  };
  ASSERT_OK(aclrtRecordEvent(before, own.get()));
  ASSERT_OK(Launch(own.get(), body));
  ASSERT_OK(aclrtRecordEvent(after, own.get()));
  recorded.Set();
  EXPECT_OK(aclrtSynchronizeStream(own.get())) << "it is still there";
  EXPECT_OK(aclrtDestroyEvent(before));
  EXPECT_OK(aclrtDestroyEvent(after));
}

TEST_F(CallbackRules, FreeingWithASynchronisationIsRefused) {
  void *memory = nullptr, *pinned = nullptr;
  ASSERT_OK(aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_OK(aclrtMallocHost(&pinned, kSize));
  Stream own;
  RunInside(own.get(), [&] {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeWithDevSync(memory));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHostWithDevSync(pinned));
  });
  EXPECT_OK(aclrtFree(memory)) << "a refused free frees nothing";
  EXPECT_OK(aclrtFreeHost(pinned));
}

TEST_F(CallbackRules, LastResetIsRefused) {
  Stream own;
  RunInside(own.get(), [&] {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtResetDevice(0)) << "it would wait for the stream";
  });
  EXPECT_OK(aclrtSynchronizeStream(own.get()));
}

TEST_F(CallbackRules, OwnDefaultStream) {
  RunInside(nullptr, [] {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(nullptr));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDevice());
  });
}

TEST_F(CallbackRules, OtherStreamsMayBeWaitedFor) {
  Stream own, other;
  DeviceBlock block(Filled(1));
  RunInside(own.get(), [&] {
    EXPECT_OK(aclrtMemsetAsync(block.get(), kSize, 7, kSize, other.get()));
    EXPECT_OK(aclrtSynchronizeStream(other.get()));
    EXPECT_OK(aclrtSetDevice(1));
    EXPECT_OK(aclrtSynchronizeDevice()) << "of another device";
  });
  EXPECT_EQ(block.Read(), Filled(7));
}

TEST_F(CallbackRules, ErrorsAndContextsWorkAsUsual) {
  Stream own;
  const aclrtContext mine = CurrentContext();
  Body body = [&] {
    EXPECT_EQ(Peek(), ACL_SUCCESS);
    EXPECT_EQ(Message(), "");
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(99));
    EXPECT_EQ(Peek(), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(Take(), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_OK(aclrtSetCurrentContext(mine));
    aclrtContext context = nullptr;
    EXPECT_OK(aclrtGetCurrentContext(&context));
    EXPECT_EQ(context, mine);
    EXPECT_OK(aclrtSetDevice(1));
    int32_t device = -1;
    EXPECT_OK(aclrtGetDevice(&device));
    EXPECT_EQ(device, 1);
    Message();
  };
  ASSERT_OK(Launch(own.get(), body));
  EXPECT_OK(aclrtSynchronizeStream(own.get()));
  EXPECT_EQ(Peek(), ACL_SUCCESS) << "errors stay in the thread that made them";
  EXPECT_EQ(Message(), "");
  int32_t device = -1;
  EXPECT_OK(aclrtGetDevice(&device));
  EXPECT_EQ(device, 0);
}

TEST_F(CallbackRules, OtherCallsAreExecuted) {
  Stream own;
  void* memory = nullptr;
  aclrtStream made = nullptr;
  PinnedBlock host(Filled(9));
  RunInside(own.get(), [&] {
    EXPECT_OK(aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_OK(aclrtMemcpy(memory, kSize, host.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE))
        << "a synchronous copy waits for no stream";
    EXPECT_OK(aclrtCreateStream(&made));
  });
  Bytes got(kSize);
  EXPECT_OK(aclrtMemcpy(got.data(), kSize, memory, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(got, Filled(9));
  EXPECT_OK(aclrtFree(memory));
  EXPECT_OK(aclrtDestroyStream(made));
}

TEST_F(CallbackRules, ABodyMaySubmitToItsOwnStream) {
  Counter count = 0;
  Stream own;
  const aclrtContext context = CurrentContext();
  Body body = [&] {
    EXPECT_OK(aclrtSetCurrentContext(context));
    EXPECT_OK(aclrtLaunchHostFunc(own.get(), &CountUp, &count));
    EXPECT_EQ(count, 0);
  };
  ASSERT_OK(Launch(own.get(), body));
  EXPECT_OK(aclrtSynchronizeStream(own.get()));
  EXPECT_OK(aclrtSynchronizeStream(own.get())) << "what was submitted meanwhile";
  EXPECT_EQ(count, 1);
}

// The same in a callback of the other family, on the thread of the application.
TEST_F(CallbackRules, UserCallbacks) {
  const aclrtContext context = CurrentContext();
  Stream own, other;
  DeviceBlock block(Filled(1));
  Poller poller;
  Body body = [&] {
    EXPECT_OK(aclrtSetCurrentContext(context));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(own.get()));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStreamWithTimeout(own.get(), 60'000));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDevice());
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyStream(own.get()));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtUnSubscribeReport(poller.id(), own.get()));
    EXPECT_OK(aclrtMemsetAsync(block.get(), kSize, 7, kSize, other.get()));
    EXPECT_OK(aclrtSynchronizeStream(other.get()));
  };
  ASSERT_OK(aclrtSubscribeReport(poller.id(), own.get()));
  ASSERT_OK(aclrtLaunchCallback(&Call, &body, ACL_CALLBACK_BLOCK, own.get()));
  EXPECT_OK(aclrtSynchronizeStream(own.get()));
  EXPECT_EQ(block.Read(), Filled(7));
  EXPECT_OK(aclrtUnSubscribeReport(poller.id(), own.get()));
}

class HostFunctionHeld : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    SKIP_UNLESS_BUILT(aclrtLaunchHostFunc(nullptr, nullptr, nullptr));
  }
};

TEST_F(HostFunctionHeld, RunsAfterAFailureOfItsStream) {
  Counter count = 0;
  DeviceBlock block(kSize);
  Stream stream;
  FailNext(stream.get(), ACL_ERROR_RT_AICORE_EXCEPTION);
  ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, 2, kSize, stream.get()));
  ASSERT_OK(aclrtLaunchHostFunc(stream.get(), &CountUp, &count));
  EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(count, 1);
}

TEST_F(HostFunctionHeld, SubscribingNeedsAnIdleStream) {
  Counter count = 0;
  Stream stream;
  Hold held(stream.get());
  ASSERT_OK(aclrtLaunchHostFunc(stream.get(), &CountUp, &count));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSubscribeReport(ReportId(), stream.get()));
  EXPECT_TRUE(held.Land());
  EXPECT_EQ(count, 1);
  EXPECT_OK(aclrtSubscribeReport(ReportId(), stream.get()));
  EXPECT_OK(aclrtUnSubscribeReport(ReportId(), stream.get()));
}

}  // namespace
}  // namespace conformance
