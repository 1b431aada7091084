// SPEC 21 §7: dropping everything that a device of this process has to do, and the callbacks around it.
#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kSize = 256;
constexpr uint32_t kLongest = 36 * 60 * 1000;
constexpr aclError kAborted = ACL_ERROR_RT_DEVICE_TASK_ABORT;

class TaskAbort : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    SKIP_UNLESS_BUILT(aclrtDeviceTaskAbort(0, 0));
  }
  static void Set(const DeviceBlock& block, int value, aclrtStream stream) {
    ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, value, kSize, stream));
  }
  static Bytes Filled(int value) { return Bytes(kSize, static_cast<uint8_t>(value)); }
  // Calls until the answer is that an abort is in progress. What is submitted before that is dropped.
  static bool UntilAborting(const std::function<aclError()>& call) {
    return Eventually([&] { return call() == kAborted; });
  }
};

TEST_F(TaskAbort, ArgumentsAreChecked) {
  for (uint32_t timeout : {kLongest + 1, UINT32_MAX}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceTaskAbort(0, timeout)) << timeout;
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceTaskAbort(99, timeout)) << "comes before the device";
  }
  for (int32_t device : {-1, DeviceCount()}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceTaskAbort(device, 0)) << device;
  }
  ASSERT_GE(DeviceCount(), 3);
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtDeviceTaskAbort(2, 0)) << "never set in this process";
}

TEST_F(TaskAbort, NothingToDo) {
  for (uint32_t timeout : {0u, 1u, kLongest}) EXPECT_OK(aclrtDeviceTaskAbort(0, timeout)) << timeout;
  EXPECT_OK(aclrtDeviceTaskAbort(1, 0)) << "not the current device";
  OnNewThread([] { EXPECT_OK(aclrtDeviceTaskAbort(0, 0)) << "needs no context"; });
}

TEST_F(TaskAbort, DropsWhatIsQueuedAndKeepsTheRest) {
  DeviceBlock blocks[3] = {DeviceBlock(Filled(1)), DeviceBlock(Filled(1)), DeviceBlock(Filled(1))};
  const aclrtContext mine = CurrentContext();
  Stream a;
  Hold first(a.get()), second(nullptr);
  for (int i = 0; i < 3; ++i) Set(blocks[0], 2 + i, a.get());
  Set(blocks[1], 2, nullptr);
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  {
    Stream b;
    Hold third(b.get());
    Set(blocks[2], 2, b.get());
    EXPECT_OK(aclrtDeviceTaskAbort(0, 0));
    EXPECT_EQ(third.Pending(), 0u) << "every context of the device";
    third.Release();
    EXPECT_OK(aclrtSynchronizeStream(b.get()));
    Set(blocks[2], 3, b.get());
    EXPECT_OK(aclrtSynchronizeStream(b.get()));
  }
  EXPECT_OK(aclrtDestroyContext(context));
  ASSERT_OK(aclrtSetCurrentContext(mine));
  EXPECT_EQ(first.Pending(), 0u);
  EXPECT_EQ(second.Pending(), 0u);
  first.Release();
  second.Release();
  EXPECT_OK(aclrtSynchronizeDevice()) << "the dropped tasks are no failure";
  EXPECT_EQ(blocks[0].Read(), Filled(1));
  EXPECT_EQ(blocks[1].Read(), Filled(1));
  EXPECT_EQ(blocks[2].Read(), Filled(3));
  Set(blocks[0], 5, a.get());
  Set(blocks[1], 6, nullptr);
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(blocks[0].Read(), Filled(5)) << "streams and memory are still good";
  EXPECT_EQ(blocks[1].Read(), Filled(6));
}

TEST_F(TaskAbort, OtherDevicesGoOn) {
  ASSERT_OK(aclrtSetDevice(1));
  {
    DeviceBlock block(Filled(1));
    Hold held(nullptr);
    Set(block, 2, nullptr);
    EXPECT_OK(aclrtDeviceTaskAbort(0, 0));
    EXPECT_EQ(held.Pending(), 1u);
    held.Release();
    EXPECT_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_EQ(block.Read(), Filled(2));
  }
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(TaskAbort, BlockedThreadsAreReleased) {
  DeviceBlock block(Filled(1));
  const aclrtContext context = CurrentContext();
  aclrtEvent event = nullptr;
  ASSERT_OK(aclrtCreateEvent(&event));
  void* memory = nullptr;
  ASSERT_OK(aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  void* pinned = nullptr;
  ASSERT_OK(aclrtMallocHost(&pinned, kSize));
  const std::function<aclError(aclrtStream)> calls[] = {
      [](aclrtStream s) { return aclrtSynchronizeStream(s); },
      [](aclrtStream s) { return aclrtSynchronizeStreamWithTimeout(s, 600'000); },
      [&](aclrtStream) { return aclrtSynchronizeEvent(event); },
      [&](aclrtStream) { return aclrtSynchronizeEventWithTimeout(event, 600'000); },
      [](aclrtStream) { return aclrtSynchronizeDevice(); },
      [](aclrtStream) { return aclrtSynchronizeDeviceWithTimeout(600'000); },
      [&](aclrtStream) { return aclrtFreeWithDevSync(memory); },
      [&](aclrtStream) { return aclrtFreeHostWithDevSync(pinned); },
  };
  for (const auto& call : calls) {
    Stream stream;
    Hold held(stream.get());
    Set(block, 2, stream.get());
    ASSERT_OK(aclrtRecordEvent(event, stream.get()));
    {
      BlockedCall blocked(context, [&] {
        const aclError code = call(stream.get());
        EXPECT_EQ(Take(), code);
        EXPECT_NE(Message().find("device task abort"), std::string::npos) << "callers search for it";
        return code;
      });
      EXPECT_FALSE(blocked.returned()) << &call - calls;
      EXPECT_OK(aclrtDeviceTaskAbort(0, 0));
      EXPECT_ACL(kAborted, blocked.Join()) << &call - calls;
    }
  }
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(block.Read(), Filled(1));
  aclrtFree(memory);  // whether the aborted call freed it is not specified
  aclrtFreeHost(pinned);
  EXPECT_OK(aclrtDestroyEvent(event));
}

TEST_F(TaskAbort, DroppedRecords) {
  DeviceBlock block(Filled(1));
  aclrtEvent fresh = nullptr, used = nullptr;
  ASSERT_OK(aclrtCreateEvent(&fresh));
  ASSERT_OK(aclrtCreateEvent(&used));
  Stream stream;
  ASSERT_OK(aclrtRecordEvent(used, stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  {
    Hold held(stream.get());
    Set(block, 2, stream.get());
    ASSERT_OK(aclrtRecordEvent(fresh, stream.get()));
    ASSERT_OK(aclrtRecordEvent(used, stream.get()));
    EXPECT_OK(aclrtDeviceTaskAbort(0, 0));
  }
  auto status = static_cast<aclrtEventRecordedStatus>(77);
  EXPECT_OK(aclrtQueryEventStatus(fresh, &status));
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_OK(aclrtQueryEventStatus(used, &status));
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE) << "its earlier record";
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeEvent(fresh));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeEventWithTimeout(fresh, 1000));
  ASSERT_OK(aclrtRecordEvent(fresh, stream.get()));
  EXPECT_OK(aclrtSynchronizeEvent(fresh)) << "events are still good";
  EXPECT_OK(aclrtDestroyEvent(fresh));
  EXPECT_OK(aclrtDestroyEvent(used));
}

TEST_F(TaskAbort, ClearsAPendingFailure) {
  DeviceBlock block(Filled(1));
  Stream stream;
  {
    Hold held(stream.get());
    FailNext(stream.get(), ACL_ERROR_RT_AICORE_EXCEPTION);
    Set(block, 2, stream.get());
    EXPECT_TRUE(held.Land());
  }
  EXPECT_OK(aclrtDeviceTaskAbort(0, 0));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
}

TEST_F(TaskAbort, DroppedCallbacksNeverRun) {
  Counter count = 0;
  Stream stream, subscribed;
  Poller poller;
  ASSERT_OK(aclrtSubscribeReport(poller.id(), subscribed.get()));
  {
    Hold first(stream.get()), second(subscribed.get());
    SKIP_UNLESS_BUILT(aclrtLaunchHostFunc(stream.get(), &CountUp, &count));
    ASSERT_OK(aclrtLaunchCallback(&CountUp, &count, ACL_CALLBACK_BLOCK, subscribed.get()));
    ASSERT_OK(aclrtLaunchCallback(&CountUp, &count, ACL_CALLBACK_NO_BLOCK, subscribed.get()));
    EXPECT_OK(aclrtDeviceTaskAbort(0, 0));
  }
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_OK(aclrtUnSubscribeReport(poller.id(), subscribed.get()));
  EXPECT_EQ(count, 0);
}

TEST_F(TaskAbort, OthersAreRefusedMeanwhile) {
  DeviceBlock block(Filled(1)), untouched(Filled(1));
  PinnedBlock host(kSize);
  Gate gate;
  Counter count = 0;
  aclrtEvent event = nullptr;
  ASSERT_OK(aclrtCreateEvent(&event));
  Stream busy, stream;
  Opener opener{gate};
  SKIP_UNLESS_BUILT(aclrtLaunchHostFunc(busy.get(), &Gate::Body, &gate));
  Set(untouched, 2, busy.get());
  ASSERT_TRUE(RunUntil(busy.get(), gate.entered));
  aclError code = -1;
  std::thread aborter([&] { code = aclrtDeviceTaskAbort(0, 0); });  // waits for the body
  ASSERT_TRUE(UntilAborting([&] { return aclrtMemsetAsync(block.get(), kSize, 2, kSize, stream.get()); }));
  Take();
  Message();
  for (aclrtStream s : {stream.get(), busy.get(), aclrtStream{nullptr}}) {
    EXPECT_ACL(kAborted, aclrtMemsetAsync(block.get(), kSize, 3, kSize, s));
    EXPECT_ACL(kAborted,
               aclrtMemcpyAsync(block.get(), kSize, host.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, s));
    EXPECT_ACL(kAborted, aclrtRecordEvent(event, s));
    EXPECT_ACL(kAborted, aclrtLaunchHostFunc(s, &CountUp, &count));
    EXPECT_ACL(kAborted, aclrtSynchronizeStream(s));
    EXPECT_ACL(kAborted, aclrtSynchronizeStreamWithTimeout(s, 1000));
  }
  EXPECT_ACL(kAborted, aclrtSynchronizeDevice());
  EXPECT_ACL(kAborted, aclrtSynchronizeDeviceWithTimeout(1000));
  EXPECT_EQ(Take(), kAborted);
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_OK(aclrtSynchronizeDevice()) << "of another device";
  ASSERT_OK(aclrtSetDevice(0));
  gate.go.Set();
  aborter.join();
  EXPECT_OK(code);
  EXPECT_EQ(gate.passed, 1) << "a body that runs is not torn down";
  Set(block, 4, busy.get());
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(block.Read(), Filled(4));
  EXPECT_EQ(untouched.Read(), Filled(1)) << "dropped";
  EXPECT_EQ(count, 0);
  EXPECT_OK(aclrtDestroyEvent(event));
}

TEST_F(TaskAbort, ExpiresAsIfNotCalled) {
  DeviceBlock block(Filled(1)), beside(Filled(1));
  Gate gate;
  Stream busy, other;
  Opener opener{gate};
  Hold held(other.get());
  Set(beside, 2, other.get());
  SKIP_UNLESS_BUILT(aclrtLaunchHostFunc(busy.get(), &Gate::Body, &gate));
  Set(block, 2, busy.get());
  ASSERT_TRUE(RunUntil(busy.get(), gate.entered));
  EXPECT_ACL(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtDeviceTaskAbort(0, 5));
  EXPECT_EQ(Take(), ACL_ERROR_RT_WAIT_TIMEOUT);
  EXPECT_EQ(held.Pending(), 1u) << "nothing is dropped";
  held.Release();
  EXPECT_OK(aclrtSynchronizeStream(other.get()));
  EXPECT_EQ(beside.Read(), Filled(2));
  gate.go.Set();
  EXPECT_OK(aclrtSynchronizeStream(busy.get()));
  EXPECT_EQ(block.Read(), Filled(2));
}

TEST_F(TaskAbort, TwoAtATime) {
  DeviceBlock block(Filled(1));
  for (int round = 0; round < 20; ++round) {
    Stream stream;
    Hold held(stream.get());
    for (int i = 0; i < 10; ++i) Set(block, 2, stream.get());
    aclError codes[2] = {-1, -1};
    std::thread other([&] { codes[1] = aclrtDeviceTaskAbort(0, 0); });
    codes[0] = aclrtDeviceTaskAbort(0, 0);
    other.join();
    EXPECT_ACL(ACL_SUCCESS, codes[0]);
    EXPECT_ACL(ACL_SUCCESS, codes[1]);
    EXPECT_EQ(held.Pending(), 0u);
  }
  EXPECT_EQ(block.Read(), Filled(1));
}

TEST_F(TaskAbort, SubmittersSurvive) {
  // Threads that submit and wait as hard as they can while another one aborts: each call gives 0 or says why
  // not.
  // Each has a block of its own: two streams that fill one would race.
  DeviceBlock blocks[3] = {DeviceBlock(Filled(1)), DeviceBlock(Filled(1)), DeviceBlock(Filled(1))};
  const aclrtContext context = CurrentContext();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  Stream streams[3];
  for (size_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, s = streams[i].get(), block = blocks[i].get()] {
      EXPECT_OK(aclrtSetCurrentContext(context));
      while (!stop) {
        aclError code = aclrtMemsetAsync(block, kSize, 2, kSize, s);
        EXPECT_TRUE(code == ACL_SUCCESS || code == kAborted) << code;
        code = aclrtSynchronizeStream(s);
        EXPECT_TRUE(code == ACL_SUCCESS || code == kAborted) << code;
      }
    });
  }
  for (int round = 0; round < 100; ++round) EXPECT_OK(aclrtDeviceTaskAbort(0, 0));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_OK(aclrtSynchronizeDevice());
}

// SPEC 21 §7.1
struct Stage {
  int who, stage;
  int32_t device;
  uint32_t timeout;
  std::thread::id thread;
};
struct Watcher {
  int who;
  std::vector<Stage>* log;
  int32_t answer = 0;
};
int32_t Watch(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void* args) {
  const auto* watcher = static_cast<Watcher*>(args);
  watcher->log->push_back({watcher->who, stage, device, timeout, std::this_thread::get_id()});
  return watcher->answer;
}

class TaskAbortCallback : public TaskAbort {
 protected:
  void SetUp() override {
    TaskAbort::SetUp();
    if (IsSkipped()) return;
    SKIP_UNLESS_BUILT(aclrtSetDeviceTaskAbortCallback("", &Watch, nullptr));
  }
};

TEST_F(TaskAbortCallback, NamesAreChecked) {
  std::vector<Stage> log;
  Watcher watcher{1, &log};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetDeviceTaskAbortCallback(nullptr, &Watch, &watcher));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetDeviceTaskAbortCallback("", &Watch, &watcher));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetDeviceTaskAbortCallback(nullptr, nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceTaskAbortCallback("none", nullptr, nullptr));
  OnNewThread([&] { EXPECT_OK(aclrtSetDeviceTaskAbortCallback("one", &Watch, &watcher)) << "no context"; });
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceTaskAbortCallback("one", &Watch, &watcher));
  EXPECT_OK(aclrtSetDeviceTaskAbortCallback("one", nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceTaskAbortCallback("one", nullptr, nullptr)) << "gone";
  EXPECT_OK(aclrtDeviceTaskAbort(0, 0));
  EXPECT_TRUE(log.empty());
}

TEST_F(TaskAbortCallback, RunBeforeAndAfter) {
  std::vector<Stage> log;
  Watcher first{1, &log, 107000}, second{2, &log};
  ASSERT_OK(aclrtSetDeviceTaskAbortCallback("first", &Watch, &first));
  ASSERT_OK(aclrtSetDeviceTaskAbortCallback("second", &Watch, &second));
  EXPECT_OK(aclrtDeviceTaskAbort(1, 1234)) << "their results are only reported";
  EXPECT_OK(aclrtSetDeviceTaskAbortCallback("first", nullptr, nullptr));
  EXPECT_OK(aclrtDeviceTaskAbort(0, 0));
  EXPECT_OK(aclrtSetDeviceTaskAbortCallback("second", nullptr, nullptr));
  const int pre = ACL_RT_DEVICE_TASK_ABORT_PRE, post = ACL_RT_DEVICE_TASK_ABORT_POST;
  const int who[] = {1, 2, 1, 2, 2, 2}, stages[] = {pre, pre, post, post, pre, post};
  ASSERT_EQ(log.size(), 6u);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(log[i].who, who[i]) << i;
    EXPECT_EQ(log[i].stage, stages[i]) << i;
    EXPECT_EQ(log[i].device, i < 4 ? 1 : 0) << i;
    EXPECT_EQ(log[i].timeout, i < 4 ? 1234u : 0u) << i;
    EXPECT_EQ(log[i].thread, std::this_thread::get_id()) << i;
  }
}

TEST_F(TaskAbortCallback, StandsBetweenTheStages) {
  struct Look {
    Hold* held;
    size_t pending[2];
  };
  DeviceBlock block(Filled(1));
  Stream stream;
  Hold held(stream.get());
  Set(block, 2, stream.get());
  Look look{&held, {77, 77}};
  const auto count = [](int32_t, aclrtDeviceTaskAbortStage stage, uint32_t, void* args) -> int32_t {
    auto* self = static_cast<Look*>(args);
    self->pending[stage] = self->held->Pending();
    return 0;
  };
  ASSERT_OK(aclrtSetDeviceTaskAbortCallback("look", count, &look));
  EXPECT_OK(aclrtDeviceTaskAbort(0, 0));
  EXPECT_OK(aclrtSetDeviceTaskAbortCallback("look", nullptr, nullptr));
  EXPECT_EQ(look.pending[0], 1u) << "before";
  EXPECT_EQ(look.pending[1], 0u) << "after";
}

}  // namespace
}  // namespace conformance
