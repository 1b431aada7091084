// SPEC 21 §2: callbacks that run on a thread of the application.
#include <stdexcept>

#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kSize = 256;
constexpr auto kBlock = ACL_CALLBACK_BLOCK, kNoBlock = ACL_CALLBACK_NO_BLOCK;

// A binding of this or another thread to a stream, ended at the end of the scope.
class Binding {
 public:
  Binding(uint64_t thread, aclrtStream stream) : thread_(thread), stream_(stream) {
    EXPECT_OK(aclrtSubscribeReport(thread, stream));
  }
  ~Binding() { EXPECT_OK(aclrtUnSubscribeReport(thread_, stream_)); }
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

 private:
  uint64_t thread_;
  aclrtStream stream_;
};

// Id of a thread that ended.
uint64_t EndedThread() {
  Poller poller;
  const uint64_t id = poller.id();
  return id;
}

class Report : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    SKIP_UNLESS_BUILT(aclrtLaunchCallback(nullptr, nullptr, kBlock, nullptr));
    Take();
    Message();
  }
  static void Set(const DeviceBlock& block, int value, aclrtStream stream) {
    ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, value, kSize, stream));
  }
  static Bytes Filled(int value) { return Bytes(kSize, static_cast<uint8_t>(value)); }
};

TEST_F(Report, SubscribingIsChecked) {
  const uint64_t self = ReportId();
  Stream stream, other, far_stream;
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSubscribeReport(self, stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSubscribeReport(self, nullptr));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtUnSubscribeReport(self, stream.get()));
  });
  Stream dead;
  const aclrtStream gone = dead.release();
  ASSERT_OK(aclrtDestroyStream(gone));
  for (aclrtStream handle : {gone, UntouchedPointer()}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSubscribeReport(self, handle));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtUnSubscribeReport(self, handle));
  }
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSubscribeReport(self, stream.get()));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtUnSubscribeReport(self, stream.get())) << "never subscribed";
}

TEST_F(Report, OneThreadPerStream) {
  const uint64_t self = ReportId();
  Poller poller;
  Stream stream, second;
  ASSERT_OK(aclrtSubscribeReport(self, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(self, stream.get())) << "the same pair";
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(poller.id(), stream.get()));
  EXPECT_OK(aclrtSubscribeReport(self, second.get())) << "many streams, one thread";
  EXPECT_ACL(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtUnSubscribeReport(poller.id(), stream.get()))
      << "another thread's";
  EXPECT_OK(aclrtUnSubscribeReport(self, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtUnSubscribeReport(self, stream.get()));
  EXPECT_OK(aclrtSubscribeReport(poller.id(), stream.get())) << "free again";
  EXPECT_OK(aclrtUnSubscribeReport(poller.id(), stream.get()));
  EXPECT_OK(aclrtUnSubscribeReport(self, second.get()));
}

TEST_F(Report, OneDevicePerThread) {
  const uint64_t self = ReportId();
  Stream here;
  ASSERT_OK(aclrtSubscribeReport(self, here.get()));
  ASSERT_OK(aclrtSetDevice(1));
  {
    Stream there;
    EXPECT_ACL(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtSubscribeReport(self, there.get()));
    EXPECT_OK(aclrtUnSubscribeReport(self, here.get())) << "from another context";
    EXPECT_OK(aclrtSubscribeReport(self, there.get()));
    EXPECT_OK(aclrtUnSubscribeReport(self, there.get()));
  }
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(Report, NullIsTheDefaultStream) {
  const uint64_t self = ReportId();
  aclrtStream stream = nullptr;
  ASSERT_OK(aclrtCtxGetCurrentDefaultStream(&stream));
  Counter count = 0;
  ASSERT_OK(aclrtSubscribeReport(self, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(self, stream));
  EXPECT_OK(aclrtLaunchCallback(&CountUp, &count, kNoBlock, nullptr));
  EXPECT_OK(aclrtLaunchCallback(&CountUp, &count, kNoBlock, stream));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtProcessReport(1000));
  EXPECT_OK(aclrtProcessReport(1000));
  EXPECT_EQ(count, 2);
  EXPECT_OK(aclrtUnSubscribeReport(self, stream));
}

TEST_F(Report, AtMost1024Threads) {
  Flag end;
  const auto park = [&end] { end.Wait(); };
  std::vector<std::thread> threads;
  Stream streams[1025];
  for (size_t i = 0; i < 1025; ++i) threads.emplace_back(park);
  const auto id = [&](size_t i) { return static_cast<uint64_t>(threads[i].native_handle()); };
  for (size_t i = 0; i < 1024; ++i) EXPECT_OK(aclrtSubscribeReport(id(i), streams[i].get())) << i;
  EXPECT_ACL(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, aclrtSubscribeReport(id(1024), streams[1024].get()));
  EXPECT_OK(aclrtSubscribeReport(id(0), streams[1024].get())) << "threads count, not streams";
  EXPECT_OK(aclrtUnSubscribeReport(id(0), streams[1024].get()));
  EXPECT_OK(aclrtUnSubscribeReport(id(0), streams[0].get()));
  EXPECT_OK(aclrtSubscribeReport(id(1024), streams[1024].get()));
  EXPECT_OK(aclrtUnSubscribeReport(id(1024), streams[1024].get()));
  for (size_t i = 1; i < 1024; ++i) EXPECT_OK(aclrtUnSubscribeReport(id(i), streams[i].get())) << i;
  end.Set();
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Report, LaunchingIsChecked) {
  Counter count = 0;
  Stream stream;
  for (auto type : {kBlock, kNoBlock}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtLaunchCallback(nullptr, &count, type, stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtLaunchCallback(&CountUp, &count, type, stream.get()))
        << "nobody subscribed";
    EXPECT_ACL(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtLaunchCallback(&CountUp, &count, type, nullptr));
  }
  Binding binding(ReportId(), stream.get());
  for (int type : {2, -1}) {
    EXPECT_ACL(
        ACL_ERROR_INVALID_PARAM,
        aclrtLaunchCallback(&CountUp, &count, static_cast<aclrtCallbackBlockType>(type), stream.get()));
  }
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtLaunchCallback(&CountUp, &count, kNoBlock, stream.get()));
  });
  Stream dead;
  const aclrtStream gone = dead.release();
  ASSERT_OK(aclrtDestroyStream(gone));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtLaunchCallback(&CountUp, &count, kNoBlock, gone));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE,
             aclrtLaunchCallback(&CountUp, &count, kNoBlock, UntouchedPointer()));
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtLaunchCallback(&CountUp, &count, kNoBlock, stream.get()));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(1));
  EXPECT_EQ(count, 0) << "nothing was launched";
}

TEST_F(Report, ProcessingIsChecked) {
  for (int timeout : {0, -2, INT32_MIN}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtProcessReport(timeout)) << timeout;
  }
  EXPECT_ACL(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(1)) << "this thread has no stream";
  EXPECT_ACL(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(100'000))
      << "it waits ten milliseconds at most";
  EXPECT_EQ(Take(), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  Message();
  Stream stream;
  {
    Binding binding(ReportId(), stream.get());
    for (int timeout : {0, -2}) EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtProcessReport(timeout)) << timeout;
    Take();
    Message();
    EXPECT_ACL(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(1));
    EXPECT_EQ(Peek(), ACL_SUCCESS) << "a normal result";
  }
  EXPECT_ACL(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(1)) << "no longer";
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtProcessReport(0));
    EXPECT_ACL(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(1)) << "needs no context";
  });
}

TEST_F(Report, TimeoutLeavesNoMessage) {
  Stream stream;
  Binding binding(ReportId(), stream.get());
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT);
  EXPECT_EQ(Message(), "");
}

TEST_F(Report, DestroyedStreamsAreUnsubscribed) {
  Stream stream;
  ASSERT_OK(aclrtSubscribeReport(ReportId(), stream.get()));
  ASSERT_OK(aclrtDestroyStream(stream.release()));
  EXPECT_ACL(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(1));
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  ASSERT_OK(aclrtSubscribeReport(ReportId(), nullptr));
  EXPECT_ACL(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(1));
  ASSERT_OK(aclrtDestroyContext(context));
  EXPECT_ACL(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(1));
  ASSERT_OK(aclrtSetDevice(1));
  Stream there;
  EXPECT_OK(aclrtSubscribeReport(ReportId(), there.get())) << "the thread is free for another device";
  EXPECT_OK(aclrtUnSubscribeReport(ReportId(), there.get()));
  EXPECT_OK(aclrtDestroyStream(there.release()));
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(Report, OneCallbackPerCall) {
  std::vector<int> order;
  struct Entry {
    std::vector<int>* order;
    int number;
  };
  const auto note = [](void* data) {
    const auto* entry = static_cast<Entry*>(data);
    entry->order->push_back(entry->number);
  };
  Stream a, b;
  Binding first(ReportId(), a.get()), second(ReportId(), b.get());
  Entry entries[6];
  for (int i = 0; i < 6; ++i) {
    entries[i] = {&order, i};
    // 0 and 1 on a, 2 and 3 on b, 4 on a, 5 on b: handed over in this order.
    const aclrtStream stream = i / 2 == 1 || i == 5 ? b.get() : a.get();
    ASSERT_OK(aclrtLaunchCallback(note, &entries[i], kNoBlock, stream));
    ASSERT_OK(aclrtSynchronizeStream(stream)) << "does not wait for bodies of this type";
  }
  EXPECT_TRUE(order.empty());
  for (int i = 0; i < 6; ++i) {
    EXPECT_OK(aclrtProcessReport(i % 2 == 0 ? -1 : 1000));
    EXPECT_EQ(order.size(), i + 1u);
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5})) << "oldest first over both streams";
  EXPECT_ACL(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(1));
}

TEST_F(Report, RunsOnTheBoundThread) {
  struct Seen {
    Flag done;
    std::thread::id thread;
    int32_t device = -7;
    aclError code = -1;
  };
  const auto look = [](void* data) {
    auto* seen = static_cast<Seen*>(data);
    seen->thread = std::this_thread::get_id();
    seen->code = aclrtGetDevice(&seen->device);
    seen->done.Set();
  };
  for (int device : {-1, 0, 1}) {
    Seen seen;
    Stream stream;
    Poller poller([device] { EXPECT_TRUE(device < 0 || aclrtSetDevice(device) == ACL_SUCCESS); });
    Binding binding(poller.id(), stream.get());
    ASSERT_OK(aclrtLaunchCallback(look, &seen, kBlock, stream.get()));
    ASSERT_OK(aclrtSynchronizeStream(stream.get()));
    EXPECT_TRUE(seen.done.is_set()) << "the stream waits for bodies of this type";
    EXPECT_EQ(seen.thread, poller.thread());
    EXPECT_EQ(seen.code, device < 0 ? ACL_ERROR_RT_CONTEXT_NULL : ACL_SUCCESS);
    EXPECT_EQ(seen.device, device < 0 ? -7 : device) << "what the thread itself selected";
  }
}

TEST_F(Report, BlockingTypeHoldsLaterTasksBack) {
  DeviceBlock block(Filled(1));
  struct Step {
    PinnedBlock out{kSize};
    Bytes seen;
  } step;
  const auto look = [](void* data) {
    auto* self = static_cast<Step*>(data);
    self->seen = self->out.Read();
  };
  Stream stream;
  Binding binding(ReportId(), stream.get());
  Set(block, 2, stream.get());
  ASSERT_OK(
      aclrtMemcpyAsync(step.out.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
  ASSERT_OK(aclrtLaunchCallback(look, &step, kBlock, stream.get()));
  Set(block, 3, stream.get());
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream.get(), 20));
  EXPECT_EQ(Pending(stream.get()), 2u) << "the body, and the later task that waits for it";
  EXPECT_OK(aclrtProcessReport(-1));
  EXPECT_EQ(step.seen, Filled(2)) << "the body sees what came before";
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Filled(3));
}

TEST_F(Report, OtherTypeLetsLaterTasksGo) {
  Counter count = 0;
  DeviceBlock block(Filled(1));
  Stream stream;
  Binding binding(ReportId(), stream.get());
  ASSERT_OK(aclrtLaunchCallback(&CountUp, &count, kNoBlock, stream.get()));
  Set(block, 2, stream.get());
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Filled(2));
  EXPECT_EQ(count, 0);
  EXPECT_OK(aclrtProcessReport(-1));
  EXPECT_EQ(count, 1);
}

TEST_F(Report, OneStreamsBodyHoldsNoOtherStream) {
  Gate gate;
  Stream blocked, free_stream;
  Opener opener{gate};
  DeviceBlock block(Filled(1));
  Poller poller;
  Binding binding(poller.id(), blocked.get());
  ASSERT_OK(aclrtLaunchCallback(&Gate::Body, &gate, kBlock, blocked.get()));
  ASSERT_TRUE(RunUntil(blocked.get(), gate.entered));
  Set(block, 2, free_stream.get());
  EXPECT_OK(aclrtSynchronizeStream(free_stream.get()));
  EXPECT_EQ(block.Read(), Filled(2));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(blocked.get(), 0));
  gate.go.Set();
  EXPECT_OK(aclrtSynchronizeStream(blocked.get()));
  EXPECT_EQ(gate.passed, 1);
}

TEST_F(Report, ManyCallbacksInStreamOrder) {
  constexpr int kMany = 200;
  struct Log {
    std::vector<int> numbers;
  } log;
  struct Entry {
    Log* log;
    int number;
  };
  std::vector<Entry> entries(kMany);
  const auto note = [](void* data) {
    const auto* entry = static_cast<Entry*>(data);
    entry->log->numbers.push_back(entry->number);
  };
  Stream stream;
  Poller poller;
  {
    Binding binding(poller.id(), stream.get());
    for (int i = 0; i < kMany; ++i) {
      entries[i] = {&log, i};
      ASSERT_OK(aclrtLaunchCallback(note, &entries[i], i % 3 == 0 ? kBlock : kNoBlock, stream.get()));
    }
    ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  }
  ASSERT_EQ(log.numbers.size(), size_t{kMany}) << "ending the binding waits for what was handed over";
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(log.numbers[i], i);
}

TEST_F(Report, EndingWaitsForABodyThatRuns) {
  Gate gate;
  Stream stream;
  Opener opener{gate};
  Poller poller;
  ASSERT_OK(aclrtSubscribeReport(poller.id(), stream.get()));
  ASSERT_OK(aclrtLaunchCallback(&Gate::Body, &gate, kNoBlock, stream.get()));
  ASSERT_TRUE(RunUntil(stream.get(), gate.entered));
  Counter behind = 0;
  ASSERT_OK(aclrtLaunchCallback(&CountUp, &behind, kNoBlock, stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  BlockedCall call(CurrentContext(), [&] { return aclrtUnSubscribeReport(poller.id(), stream.get()); });
  EXPECT_FALSE(call.returned());
  gate.go.Set();
  EXPECT_OK(call.Join());
  EXPECT_EQ(behind, 1) << "one was queued behind it";
}

TEST_F(Report, EndedThreadsAreUnsubscribed) {
  Counter count = 0;
  Stream stream;
  const uint64_t ended = EndedThread();
  ASSERT_OK(aclrtSubscribeReport(ended, stream.get()));
  EXPECT_OK(aclrtLaunchCallback(&CountUp, &count, kNoBlock, stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_OK(aclrtUnSubscribeReport(ended, stream.get())) << "what it never ran is dropped";
  EXPECT_EQ(count, 0);
  EXPECT_ACL(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtLaunchCallback(&CountUp, &count, kNoBlock, stream.get()));
}

TEST_F(Report, EndingDropsWhatAThreadNeverAskedFor) {
  Flag end;
  std::thread silent([&end] { end.Wait(); });
  const auto id = static_cast<uint64_t>(silent.native_handle());
  Counter count = 0;
  DeviceBlock block(Filled(1));
  Stream stream;
  ASSERT_OK(aclrtSubscribeReport(id, stream.get()));
  EXPECT_OK(aclrtLaunchCallback(&CountUp, &count, kNoBlock, stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_OK(aclrtLaunchCallback(&CountUp, &count, kBlock, stream.get()));
  Set(block, 2, stream.get());
  EXPECT_OK(aclrtUnSubscribeReport(id, stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get())) << "a dropped blocking callback counts as done";
  EXPECT_EQ(block.Read(), Filled(2));
  EXPECT_EQ(count, 0);
  end.Set();
  silent.join();
}

TEST_F(Report, ThrowingBodiesDoNoHarm) {
  const auto raise = [](void*) { throw std::runtime_error("from a callback"); };
  Stream stream;
  Binding binding(ReportId(), stream.get());
  for (auto type : {kBlock, kNoBlock}) {
    ASSERT_OK(aclrtLaunchCallback(raise, nullptr, type, stream.get()));
    EXPECT_OK(aclrtProcessReport(-1));
    EXPECT_OK(aclrtSynchronizeStream(stream.get())) << "the task counts as successful";
  }
}

TEST_F(Report, ManyThreadsManyStreams) {
  constexpr int kThreads = 4, kRounds = 50;
  Counter count = 0;
  Stream streams[kThreads];
  Poller pollers[kThreads];
  {
    std::vector<std::unique_ptr<Binding>> bindings;
    for (int i = 0; i < kThreads; ++i) {
      bindings.push_back(std::make_unique<Binding>(pollers[i].id(), streams[i].get()));
    }
    for (int round = 0; round < kRounds; ++round) {
      for (const Stream& stream : streams) {
        ASSERT_OK(aclrtLaunchCallback(&CountUp, &count, round % 2 == 0 ? kBlock : kNoBlock, stream.get()));
      }
    }
    ASSERT_OK(aclrtSynchronizeDevice());
  }
  EXPECT_EQ(count, kThreads * kRounds);
}

class ReportHeld : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    SKIP_UNLESS_BUILT(aclrtLaunchCallback(nullptr, nullptr, kBlock, nullptr));
  }
};

TEST_F(ReportHeld, CallbacksNotReachedAreDropped) {
  Counter count = 0;
  DeviceBlock block(Bytes(kSize, 1));
  Poller poller;
  Stream stream;
  Hold held(stream.get());
  ASSERT_OK(aclrtSubscribeReport(poller.id(), stream.get()));
  EXPECT_OK(aclrtLaunchCallback(&CountUp, &count, kNoBlock, stream.get()));
  EXPECT_OK(aclrtLaunchCallback(&CountUp, &count, kBlock, stream.get()));
  EXPECT_OK(aclrtMemsetAsync(block.get(), kSize, 2, kSize, stream.get()));
  EXPECT_OK(aclrtUnSubscribeReport(poller.id(), stream.get()));
  held.Release();
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Bytes(kSize, 2));
  EXPECT_EQ(count, 0);
}

TEST_F(ReportHeld, AWaitingThreadIsWoken) {
  Counter count = 0;
  Stream stream;
  Hold held(stream.get());
  Flag subscribed;
  aclError code = -1;
  std::atomic<uint64_t> id{0};
  std::thread waiter([&] {
    id = ReportId();
    subscribed.Wait();
    code = aclrtProcessReport(-1);
  });
  ASSERT_TRUE(Eventually([&] { return id != 0; }));
  ASSERT_OK(aclrtSubscribeReport(id, stream.get()));
  subscribed.Set();
  ASSERT_OK(aclrtLaunchCallback(&CountUp, &count, kBlock, stream.get()));
  EXPECT_EQ(count, 0);
  EXPECT_TRUE(held.Land()) << "in this call, until the body returned";
  EXPECT_EQ(count, 1);
  waiter.join();
  EXPECT_OK(code);
  EXPECT_OK(aclrtUnSubscribeReport(id, stream.get()));
}

}  // namespace
}  // namespace conformance
