// belay/control.h: holding a stream, landing one task, looking at what is pending, injecting failures.
#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kSize = 256;

class Steering : public OnTwoDevices {
 protected:
  static void Set(const DeviceBlock& block, int value, aclrtStream stream) {
    ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, value, kSize, stream));
  }
  static Bytes Filled(int value) { return Bytes(kSize, static_cast<uint8_t>(value)); }
  static aclrtStreamStatus Query(aclrtStream stream) {
    auto status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_OK(aclrtStreamQuery(stream, &status));
    return status;
  }
  static std::vector<belay_pending_task> List(aclrtStream stream) {
    std::vector<belay_pending_task> tasks(100);
    size_t count = 0;
    EXPECT_OK(belay_list_pending(stream, tasks.data(), tasks.size(), &count));
    EXPECT_LE(count, tasks.size());
    tasks.resize(count);
    return tasks;
  }
};

TEST_F(Steering, HeldTasksStayQueued) {
  Stream stream;
  DeviceBlock block(Filled(1));
  Hold held(stream.get());
  Set(block, 2, stream.get());
  EXPECT_EQ(held.Pending(), 1u);
  EXPECT_EQ(Query(stream.get()), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream.get(), 0));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream.get(), 20));
  EXPECT_EQ(held.Pending(), 1u);
  held.Release();
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Filled(2));
}

TEST_F(Steering, HoldingTwiceIsHoldingOnce) {
  Stream stream;
  DeviceBlock block(Filled(1));
  EXPECT_OK(belay_release_stream(stream.get())) << "not held: no effect";
  Hold first(stream.get()), second(stream.get());
  Set(block, 2, stream.get());
  second.Release();
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Filled(2));
}

TEST_F(Steering, HoldsOneStreamOnly) {
  Stream stopped, other;
  DeviceBlock a(Filled(1)), b(Filled(1)), c(Filled(1));
  Hold held(stopped.get());
  Set(a, 2, stopped.get());
  Set(b, 2, other.get());
  Set(c, 3, nullptr);
  EXPECT_OK(aclrtSynchronizeStream(other.get()));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(held.Pending(), 1u);
  EXPECT_EQ(b.Read(), Filled(2));
  EXPECT_EQ(c.Read(), Filled(3));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(0));
}

TEST_F(Steering, HoldsWhatWasQueuedBefore) {
  // The stream is busy with a host function when its other tasks are queued; it is held behind that.
  Gate gate;
  Stream stream;
  Opener opener{gate};
  DeviceBlock block(Filled(1));
  SKIP_UNLESS_BUILT(aclrtLaunchHostFunc(stream.get(), &Gate::Body, &gate));
  Set(block, 2, stream.get());
  ASSERT_TRUE(RunUntil(stream.get(), gate.entered));
  BlockedCall hold(CurrentContext(), [&] { return belay_hold_stream(stream.get()); });
  EXPECT_FALSE(hold.returned()) << "it waits for the running task";
  gate.go.Set();
  EXPECT_OK(hold.Join());
  EXPECT_EQ(gate.passed, 1);
  const size_t queued = Pending(stream.get());
  EXPECT_LE(queued, 1u);
  EXPECT_EQ(Query(stream.get()), queued == 0 ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(Pending(stream.get()), queued) << "once held, nothing moves";
  EXPECT_OK(belay_release_stream(stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Filled(2));
}

TEST_F(Steering, LandsOneAfterTheOther) {
  Stream stream;
  DeviceBlock blocks[] = {DeviceBlock(Filled(0)), DeviceBlock(Filled(0)), DeviceBlock(Filled(0))};
  DeviceBlock& block = blocks[2];
  aclrtEvent events[3];
  for (aclrtEvent& event : events) ASSERT_OK(aclrtCreateEvent(&event));
  Hold held(stream.get());
  EXPECT_FALSE(held.Land()) << "nothing is queued";
  for (int i = 0; i < 3; ++i) {
    Set(blocks[i], i + 1, stream.get());
    ASSERT_OK(aclrtRecordEvent(events[i], stream.get()));
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(held.Land());
    EXPECT_EQ(held.Pending(), 5u - 2 * i);
    EXPECT_TRUE(held.Land());
    EXPECT_OK(aclrtSynchronizeEvent(events[i]));
    EXPECT_EQ(blocks[i].Read(), Filled(i + 1));
    EXPECT_EQ(held.Pending(), 4u - 2 * i);
  }
  EXPECT_FALSE(held.Land());
  EXPECT_EQ(Query(stream.get()), ACL_STREAM_STATUS_COMPLETE);
  Set(block, 4, stream.get());
  EXPECT_OK(belay_land_one(stream.get(), nullptr)) << "the answer may be left out";
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream.get(), 0));
  EXPECT_EQ(block.Read(), Filled(4));
  held.Release();
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, belay_land_one(stream.get(), nullptr));
  for (aclrtEvent event : events) EXPECT_OK(aclrtDestroyEvent(event));
}

TEST_F(Steering, LandsWaitsOnlyWhenTheyAreMet) {
  Stream producer, consumer;
  aclrtEvent event = nullptr;
  ASSERT_OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  Hold first(producer.get()), second(consumer.get());
  ASSERT_OK(aclrtRecordEvent(event, producer.get()));
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event));
  EXPECT_FALSE(second.Land());
  EXPECT_EQ(second.Pending(), 1u);
  EXPECT_EQ(List(consumer.get()).at(0).waiting, 1);
  EXPECT_TRUE(first.Land());
  EXPECT_TRUE(second.Land());
  EXPECT_EQ(second.Pending(), 0u);
  EXPECT_OK(aclrtDestroyEvent(event));
}

TEST_F(Steering, LandsAHostFunctionWhole) {
  Counter count = 0;
  Stream stream;
  Hold held(stream.get());
  SKIP_UNLESS_BUILT(aclrtLaunchHostFunc(stream.get(), &CountUp, &count));
  ASSERT_OK(aclrtLaunchHostFunc(stream.get(), &CountUp, &count));
  EXPECT_TRUE(held.Land());
  EXPECT_EQ(count, 1) << "its body returned";
  EXPECT_TRUE(held.Land());
  EXPECT_EQ(count, 2);
}

TEST_F(Steering, ListsWhatIsPending) {
  Stream stream;
  DeviceBlock block(Filled(0));
  Hold held(stream.get());
  EXPECT_TRUE(List(stream.get()).empty());
  Set(block, 1, stream.get());
  uint32_t helper = 0;
  const aclrtContext context = CurrentContext();
  PinnedBlock host(kSize);
  OnNewThread([&] {
    helper = ThreadNumber();
    ASSERT_OK(aclrtSetCurrentContext(context));
    ASSERT_OK(
        aclrtMemcpyAsync(host.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
  });
  Set(block, 2, stream.get());
  std::vector<belay_pending_task> tasks = List(stream.get());
  ASSERT_EQ(tasks.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(tasks[i].task, i);
    EXPECT_EQ(tasks[i].thread, i == 1 ? helper : ThreadNumber());
    EXPECT_STREQ(tasks[i].api, i == 1 ? "aclrtMemcpyAsync" : "aclrtMemsetAsync");
    EXPECT_EQ(tasks[i].waiting, 0);
  }
  EXPECT_TRUE(held.Land());
  tasks = List(stream.get());
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].task, 1u) << "numbers stay";

  belay_pending_task room[2];
  room[1].task = 12345;
  size_t count = 0;
  EXPECT_OK(belay_list_pending(stream.get(), room, 1, &count));
  EXPECT_EQ(count, 2u) << "all of them, though there was room for one";
  EXPECT_EQ(room[0].task, 1u);
  EXPECT_EQ(room[1].task, 12345u);
  held.Release();
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
}

TEST_F(Steering, NextTaskFailsAndHasNoEffect) {
  Stream stream, other;
  DeviceBlock block(Filled(1)), beside(Filled(1));
  aclrtEvent before = nullptr;
  ASSERT_OK(aclrtCreateEvent(&before));
  Hold held(stream.get());
  Set(block, 2, stream.get());
  ASSERT_OK(aclrtRecordEvent(before, stream.get()));
  FailNext(stream.get(), ACL_ERROR_RT_AICORE_EXCEPTION);
  Set(beside, 3, other.get());
  Set(block, 4, stream.get());
  EXPECT_OK(aclrtSynchronizeStream(other.get())) << "another stream's task";
  EXPECT_EQ(beside.Read(), Filled(3));
  EXPECT_TRUE(held.Land());
  EXPECT_TRUE(held.Land());
  EXPECT_OK(aclrtSynchronizeEvent(before)) << "what was queued before runs";
  EXPECT_TRUE(held.Land()) << "a task that fails has landed";
  EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Filled(2));
  held.Release();
  Set(block, 5, stream.get());
  EXPECT_OK(aclrtSynchronizeStream(stream.get())) << "one task only";
  EXPECT_EQ(block.Read(), Filled(5));
  EXPECT_OK(aclrtDestroyEvent(before));
}

TEST_F(Steering, NullIsTheDefaultStream) {
  DeviceBlock block(Filled(1));
  aclrtStream stream = nullptr;
  ASSERT_OK(aclrtCtxGetCurrentDefaultStream(&stream));
  Hold held(nullptr);
  FailNext(nullptr, ACL_ERROR_RT_AICORE_TIMEOUT);
  Set(block, 2, stream);
  Set(block, 3, nullptr);
  EXPECT_EQ(List(stream).size(), 2u);
  EXPECT_TRUE(held.Land());
  EXPECT_TRUE(held.Land());
  EXPECT_ACL(ACL_ERROR_RT_AICORE_TIMEOUT, aclrtSynchronizeStream(stream));
  EXPECT_EQ(block.Read(), Filled(3));
}

TEST_F(Steering, HeldStreamsOfEveryContext) {
  ASSERT_OK(aclrtSetDevice(1));
  Stream stream;
  DeviceBlock block(Filled(1));
  Hold held(stream.get());
  Set(block, 2, stream.get());
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtSynchronizeDevice()) << "of device 0";
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_EQ(held.Pending(), 1u);
  held.Release();
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(block.Read(), Filled(2));
}

TEST_F(Steering, RefusesWhatItCannotDo) {
  Stream dead;
  const aclrtStream gone = dead.release();
  ASSERT_OK(aclrtDestroyStream(gone));
  int landed = 77;
  size_t count = 77;
  belay_pending_task task;
  const auto each = [&](aclrtStream stream, aclError code) {
    EXPECT_ACL(code, belay_hold_stream(stream));
    EXPECT_ACL(code, belay_release_stream(stream));
    EXPECT_ACL(code, belay_land_one(stream, &landed));
    EXPECT_ACL(code, belay_list_pending(stream, &task, 1, &count));
    EXPECT_ACL(code, belay_fail_next_task(stream, ACL_ERROR_RT_AICORE_EXCEPTION));
  };
  each(gone, ACL_ERROR_RT_INVALID_HANDLE);
  each(UntouchedPointer(), ACL_ERROR_RT_INVALID_HANDLE);
  Stream stream;
  OnNewThread([&] {
    each(stream.get(), ACL_ERROR_RT_CONTEXT_NULL);
    each(nullptr, ACL_ERROR_RT_CONTEXT_NULL);
  });
  ASSERT_OK(aclrtSetDevice(1));
  each(stream.get(), ACL_ERROR_RT_STREAM_CONTEXT);
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, belay_list_pending(stream.get(), nullptr, 1, &count));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, belay_list_pending(stream.get(), &task, 1, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, belay_fail_next_task(stream.get(), ACL_SUCCESS));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, belay_fail_device(0, ACL_SUCCESS, nullptr));
  for (int32_t device : {-1, DeviceCount()}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, belay_fail_device(device, ACL_ERROR_RT_LINK_ERROR, nullptr));
  }
  EXPECT_EQ(landed, 77);
  EXPECT_EQ(count, 77u);
  DeviceBlock block(Filled(1));
  Set(block, 2, stream.get());
  EXPECT_OK(aclrtSynchronizeStream(stream.get())) << "no refused call changed anything";
}

}  // namespace
}  // namespace conformance
