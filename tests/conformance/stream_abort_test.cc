// SPEC 20 §3.3, H16: aclrtStreamAbort.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

class StreamAbort : public OnTwoDevices {};

TEST_F(StreamAbort, QueuedTasksAreDropped) {
  DeviceBlock block(Bytes(kSize, 1)), other(Bytes(kSize, 1));
  Stream stream, bystander;
  Hold hold(stream.get()), beside(bystander.get());
  for (int value : {2, 3, 4}) ASSERT_OK(FillAsync(block, value, stream.get()));
  ASSERT_OK(FillAsync(other, 5, bystander.get()));
  ASSERT_TRUE(hold.Land());
  EXPECT_OK(aclrtStreamAbort(stream.get()));
  EXPECT_EQ(Pending(stream.get()), 0u);
  EXPECT_EQ(Pending(bystander.get()), 1u) << "another stream of the context";
  hold.Release();
  beside.Release();
  EXPECT_EQ(StatusOf(stream.get()), ACL_STREAM_STATUS_COMPLETE);
  EXPECT_OK(aclrtSynchronizeStream(stream.get())) << "a wait that begins after the abort";
  EXPECT_OK(aclrtSynchronizeStream(bystander.get()));
  EXPECT_TRUE(Holds(block, 2)) << "what had run, ran";
  EXPECT_TRUE(Holds(other, 5));
}

TEST_F(StreamAbort, TheStreamIsUsableAfterwards) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  int32_t before = -1, after = -2;
  ASSERT_OK(aclrtStreamGetId(stream.get(), &before));
  for (int round = 0; round < 3; ++round) {
    Hold hold(stream.get());
    ASSERT_OK(FillAsync(block, 9, stream.get()));
    ASSERT_OK(aclrtStreamAbort(stream.get()));
    hold.Release();
    ASSERT_OK(FillAsync(block, 10 + round, stream.get()));
    ASSERT_OK(aclrtSynchronizeStream(stream.get()));
    EXPECT_TRUE(Holds(block, 10 + round));
  }
  ASSERT_OK(aclrtStreamGetId(stream.get(), &after));
  EXPECT_EQ(before, after);
}

TEST_F(StreamAbort, IdleStreams) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  EXPECT_OK(aclrtStreamAbort(stream.get()));
  ASSERT_OK(FillAsync(block, 2, stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_OK(aclrtStreamAbort(stream.get()));
  EXPECT_OK(aclrtStreamAbort(stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_TRUE(Holds(block, 2));
}

// In 9.0 only the family 950 refuses it.
TEST_F(StreamAbort, TheDefaultStream) {
  DeviceBlock block(Bytes(kSize, 1));
  Hold hold(nullptr);
  ASSERT_OK(FillAsync(block, 2, nullptr));
  EXPECT_OK(aclrtStreamAbort(nullptr));
  hold.Release();
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(Holds(block, 1));
}

TEST_F(StreamAbort, NothingIsTouchedAfterTheReturn) {
  const size_t size = 8 * kMiB;
  DeviceBlock block(size);
  for (int round = 0; round < 20; ++round) {
    Stream stream;
    for (int value = 1; value < 6; ++value) ASSERT_OK(FillAsync(block, value, stream.get()));
    ASSERT_OK(aclrtStreamAbort(stream.get()));
    ASSERT_OK(aclrtMemset(block.get(), size, 0, size));
    ASSERT_TRUE(Holds(block, 0)) << "round " << round;
    ASSERT_OK(aclrtSynchronizeStream(stream.get()));
    ASSERT_TRUE(Holds(block, 0)) << "round " << round;
  }
}

TEST_F(StreamAbort, APendingFailureIsForgotten) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  Hold hold(stream.get());
  ASSERT_OK(belay_fail_next_task(stream.get(), ACL_ERROR_RT_AICORE_EXCEPTION));
  ASSERT_OK(FillAsync(block, 2, stream.get()));
  ASSERT_TRUE(hold.Land());
  EXPECT_OK(aclrtStreamAbort(stream.get()));
  hold.Release();
  EXPECT_EQ(StatusOf(stream.get()), ACL_STREAM_STATUS_COMPLETE);
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_OK(aclrtSynchronizeDevice());
}

TEST_F(StreamAbort, DroppedRecords) {
  Stream stream, consumer;
  Event never = PlainEvent(), again = PlainEvent(), ex = ExEvent();
  ASSERT_OK(aclrtRecordEvent(again.get(), stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  Hold hold(stream.get()), waiting(consumer.get());
  for (const Event* event : {&never, &again, &ex}) {
    ASSERT_OK(aclrtRecordEvent(event->get(), stream.get()));
    EXPECT_FALSE(IsComplete(event->get()));
  }
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), never.get()));
  EXPECT_FALSE(waiting.Land());
  ASSERT_OK(aclrtStreamAbort(stream.get()));
  hold.Release();
  EXPECT_FALSE(IsComplete(never.get()));
  EXPECT_TRUE(IsComplete(again.get())) << "the state before the dropped record";
  for (int i = 0; i < 2; ++i) {
    for (const Event* event : {&never, &ex}) {
      EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeEvent(event->get()));
      EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeEventWithTimeout(event->get(), 60'000));
    }
  }
  EXPECT_FALSE(waiting.Land()) << "a wait for the dropped record stays blocked";
  EXPECT_EQ(Pending(consumer.get()), 1u);
  EXPECT_OK(aclrtStreamAbort(consumer.get())) << "and is aborted too";
  waiting.Release();
  EXPECT_OK(aclrtSynchronizeStream(consumer.get()));
  for (const Event* event : {&never, &again, &ex}) {
    ASSERT_OK(aclrtRecordEvent(event->get(), stream.get()));
    EXPECT_OK(aclrtSynchronizeEvent(event->get())) << "a new record makes it an ordinary event again";
    EXPECT_TRUE(IsComplete(event->get()));
  }
}

TEST_F(StreamAbort, DroppedSignals) {
  Stream stream, consumer;
  Event flag = FlagEvent();
  Notify notify;
  Hold hold(stream.get()), waiting(consumer.get());
  ASSERT_OK(aclrtRecordEvent(flag.get(), stream.get()));
  ASSERT_OK(aclrtRecordNotify(notify.get(), stream.get()));
  ASSERT_OK(aclrtStreamAbort(stream.get()));
  hold.Release();
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), flag.get()));
  ASSERT_OK(aclrtWaitAndResetNotify(notify.get(), consumer.get(), 0));
  EXPECT_FALSE(waiting.Land()) << "the bit of the event is clear";
  ASSERT_OK(aclrtRecordEvent(flag.get(), stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_TRUE(waiting.Land());
  EXPECT_FALSE(waiting.Land()) << "the bit of the notify is clear";
  ASSERT_OK(aclrtRecordNotify(notify.get(), stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_TRUE(waiting.Land());
}

TEST_F(StreamAbort, AbortsAStreamThatIsBlocked) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream producer, stream;
  Event event = PlainEvent();
  Hold hold(producer.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
  ASSERT_OK(aclrtStreamWaitEvent(stream.get(), event.get()));
  ASSERT_OK(FillAsync(block, 2, stream.get()));
  UntilBlocked(stream.get());
  EXPECT_OK(aclrtStreamAbort(stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  hold.Release();
  EXPECT_OK(aclrtSynchronizeEvent(event.get())) << "the event is not the stream's";
  EXPECT_TRUE(Holds(block, 1));
}

// Nobody can see a thread enter its wait. One that comes too late finds an idle stream, and the round is
// repeated.
TEST_F(StreamAbort, ThreadsInsideAWaitComeBack) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  Event event = PlainEvent();
  const std::function<aclError()> waits[] = {
      [&] { return aclrtSynchronizeStream(stream.get()); },
      [&] { return aclrtSynchronizeStreamWithTimeout(stream.get(), 600'000); },
  };
  for (const auto& wait : waits) {
    bool caught = false;
    for (int round = 0; round < 10'000 && !caught; ++round) {
      Hold hold(stream.get());
      ASSERT_OK(FillAsync(block, 2, stream.get()));
      std::promise<void> about;
      std::future<aclError> call = OnThread(CurrentContext(), [&] {
        about.set_value();
        return wait();
      });
      about.get_future().wait();
      for (int i = 0; i < round; ++i) std::this_thread::yield();
      EXPECT_OK(aclrtStreamAbort(stream.get()));
      hold.Release();
      const aclError code = call.get();
      ASSERT_TRUE(code == ACL_SUCCESS || code == ACL_ERROR_RT_STREAM_ABORT) << code;
      caught = code == ACL_ERROR_RT_STREAM_ABORT;
    }
    EXPECT_TRUE(caught);
  }
  for (int round = 0; round < 10; ++round) {
    Hold hold(stream.get());
    ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
    std::promise<void> about;
    std::future<aclError> call = OnThread(CurrentContext(), [&] {
      about.set_value();
      return aclrtSynchronizeEvent(event.get());
    });
    about.get_future().wait();
    EXPECT_OK(aclrtStreamAbort(stream.get()));
    hold.Release();
    EXPECT_EQ(call.get(), ACL_ERROR_RT_STREAM_ABORT) << "before the abort or after it";
  }
  EXPECT_TRUE(Holds(block, 1));
}

TEST_F(StreamAbort, RefusedStreams) {
  for (aclrtStream dead : DeadStreams()) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamAbort(dead));
  }
  aclrtStream device_only = nullptr;
  ASSERT_OK(aclrtCreateStreamWithConfig(&device_only, 0, ACL_STREAM_DEVICE_USE_ONLY));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamAbort(device_only));
  EXPECT_OK(aclrtDestroyStream(device_only));

  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  {
    Hold hold(stream.get());
    ASSERT_OK(FillAsync(block, 2, stream.get()));
    const auto foreign = [&] { EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtStreamAbort(stream.get())); };
    InOtherContext(foreign);
    ASSERT_OK(aclrtSetDevice(1));
    foreign();
    ASSERT_OK(aclrtSetDevice(0));
    OnNewThread([&] {
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtStreamAbort(stream.get()));
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtStreamAbort(nullptr));
    });
    EXPECT_EQ(Pending(stream.get()), 1u);
  }
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_TRUE(Holds(block, 2)) << "no refusal dropped the task";
}

}  // namespace
}  // namespace conformance
