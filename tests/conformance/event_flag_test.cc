// SPEC 20 §4.1, §4.2: events of aclrtCreateEventWithFlag, one device bit each, and aclrtResetEvent.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

// The parameter: the flag of an event that has a bit.
class EventFlag : public OnTwoDevices, public testing::WithParamInterface<uint32_t> {
 protected:
  static Event Make() { return FlagEvent(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, EventFlag,
                         testing::Values(ACL_EVENT_SYNC, ACL_EVENT_EXTERNAL,
                                         ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE,
                                         ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS));

TEST_P(EventFlag, AWaitBlocksUntilARecordRuns) {
  Event event = Make();
  Stream recorder, consumer;
  Hold recording(recorder.get()), waiting(consumer.get());
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
  EXPECT_FALSE(waiting.Land()) << "initially clear";
  ASSERT_OK(aclrtRecordEvent(event.get(), recorder.get()));
  EXPECT_FALSE(waiting.Land()) << "the record sets the bit when it runs, not when it is submitted";
  ASSERT_TRUE(recording.Land());
  EXPECT_TRUE(waiting.Land()) << "a record made after the wait";
}

TEST_P(EventFlag, AWaitDoesNotClearTheBit) {
  Event event = Make();
  Stream recorder, a, b;
  Hold hold_a(a.get()), hold_b(b.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), recorder.get()));
  ASSERT_OK(aclrtSynchronizeStream(recorder.get()));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(aclrtStreamWaitEvent(a.get(), event.get()));
    ASSERT_OK(aclrtStreamWaitEvent(b.get(), event.get()));
    EXPECT_TRUE(hold_a.Land());
    EXPECT_TRUE(hold_b.Land());
  }
}

TEST_P(EventFlag, AResetClearsTheBitWhenItRuns) {
  Event event = Make();
  Stream recorder, consumer, other;
  Hold waiting(consumer.get()), beside(other.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), recorder.get()));
  ASSERT_OK(aclrtSynchronizeStream(recorder.get()));
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
  ASSERT_OK(aclrtResetEvent(event.get(), consumer.get()));
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
  ASSERT_OK(aclrtStreamWaitEvent(other.get(), event.get()));
  ASSERT_TRUE(waiting.Land());
  EXPECT_TRUE(beside.Land()) << "the reset is queued and has not run";
  ASSERT_TRUE(waiting.Land()) << "the reset";
  EXPECT_FALSE(waiting.Land()) << "clear again";
  ASSERT_OK(aclrtRecordEvent(event.get(), recorder.get()));
  ASSERT_OK(aclrtSynchronizeStream(recorder.get()));
  EXPECT_TRUE(waiting.Land());
}

TEST_P(EventFlag, AWaiterThatComesAfterTheResetBlocks) {
  Event event = Make();
  Stream recorder, first, late;
  Hold hold_first(first.get()), hold_late(late.get());
  ASSERT_OK(aclrtStreamWaitEvent(first.get(), event.get()));
  ASSERT_OK(aclrtResetEvent(event.get(), first.get()));
  ASSERT_OK(aclrtStreamWaitEvent(late.get(), event.get()));
  ASSERT_OK(aclrtRecordEvent(event.get(), recorder.get()));
  ASSERT_OK(aclrtSynchronizeStream(recorder.get()));
  EXPECT_EQ(hold_first.LandAll(), 2);
  EXPECT_FALSE(hold_late.Land()) << "it was submitted before the record, and the bit is what counts";
  ASSERT_OK(aclrtRecordEvent(event.get(), recorder.get()));
  ASSERT_OK(aclrtSynchronizeStream(recorder.get()));
  EXPECT_TRUE(hold_late.Land());
}

TEST_P(EventFlag, ARecordWithoutResetLetsTheWaitPassEarly) {
  Event event = Make();
  Stream recorder, consumer;
  Hold recording(recorder.get()), waiting(consumer.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), recorder.get()));
  ASSERT_TRUE(recording.Land());
  ASSERT_OK(aclrtRecordEvent(event.get(), recorder.get()));
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
  EXPECT_TRUE(waiting.Land());
  EXPECT_EQ(Pending(recorder.get()), 1u) << "the second record has not run";
}

TEST_P(EventFlag, ResetOfAClearBit) {
  Event event = Make();
  Stream stream;
  EXPECT_OK(aclrtResetEvent(event.get(), stream.get()));
  EXPECT_OK(aclrtResetEvent(event.get(), nullptr));
  EXPECT_OK(aclrtSynchronizeDevice());
}

TEST_P(EventFlag, OrdersDataInARing) {
  const size_t size = 64 * kKiB;
  Event ready = Make(), used = Make();
  PinnedBlock out(size);
  DeviceBlock block(size);
  Stream producer, consumer;
  ASSERT_OK(aclrtRecordEvent(used.get(), consumer.get()));
  for (uint32_t round = 0; round < 20; ++round) {
    const int value = static_cast<int>(round + 1);
    ASSERT_OK(aclrtStreamWaitEvent(producer.get(), used.get()));
    ASSERT_OK(aclrtResetEvent(used.get(), producer.get()));
    ASSERT_OK(FillAsync(block, value, producer.get()));
    ASSERT_OK(aclrtRecordEvent(ready.get(), producer.get()));
    ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), ready.get()));
    ASSERT_OK(aclrtResetEvent(ready.get(), consumer.get()));
    ASSERT_OK(
        aclrtMemcpyAsync(out.get(), size, block.get(), size, ACL_MEMCPY_DEVICE_TO_HOST, consumer.get()));
    ASSERT_OK(aclrtRecordEvent(used.get(), consumer.get()));
    ASSERT_OK(aclrtSynchronizeStream(consumer.get()));
    ASSERT_EQ(out.Read(), Bytes(size, static_cast<uint8_t>(value))) << round;
  }
}

TEST_P(EventFlag, NeverRecorded) {
  Event event = Make();
  EXPECT_OK(aclrtSynchronizeEvent(event.get())) << "the host does not wait";
  EXPECT_OK(aclrtSynchronizeEventWithTimeout(event.get(), 0));
  EXPECT_FALSE(IsComplete(event.get()));
}

TEST_P(EventFlag, DestroyedWithEverythingPending) {
  Event event = Make();
  Stream recorder, consumer;
  Hold recording(recorder.get()), waiting(consumer.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), recorder.get()));
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
  const aclrtEvent handle = event.release();
  EXPECT_OK(aclrtDestroyEvent(handle)) << "not blocked by pending work";
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(handle));
  EXPECT_FALSE(waiting.Land());
  ASSERT_TRUE(recording.Land());
  EXPECT_TRUE(waiting.Land());
}

class EventFlagWaits : public OnDevice0 {};

TEST_F(EventFlagWaits, TheWaitStatusFollowsRecordAndWaits) {
  Event event = FlagEvent();
  Stream recorder, a, b;
  Hold recording(recorder.get()), hold_a(a.get()), hold_b(b.get());
  EXPECT_EQ(WaitsFor(event.get()), ACL_EVENT_WAIT_STATUS_COMPLETE) << "nothing is pending";
  ASSERT_OK(aclrtRecordEvent(event.get(), recorder.get()));
  EXPECT_EQ(WaitsFor(event.get()), ACL_EVENT_WAIT_STATUS_NOT_READY);
  ASSERT_OK(aclrtStreamWaitEvent(a.get(), event.get()));
  ASSERT_OK(aclrtStreamWaitEvent(b.get(), event.get()));
  ASSERT_TRUE(recording.Land());
  EXPECT_EQ(WaitsFor(event.get()), ACL_EVENT_WAIT_STATUS_NOT_READY);
  ASSERT_TRUE(hold_a.Land());
  EXPECT_EQ(WaitsFor(event.get()), ACL_EVENT_WAIT_STATUS_NOT_READY);
  ASSERT_TRUE(hold_b.Land());
  EXPECT_EQ(WaitsFor(event.get()), ACL_EVENT_WAIT_STATUS_COMPLETE);
}

class EventFlagCodes : public OnTwoDevices {};

TEST_F(EventFlagCodes, Creation) {
  aclrtEvent event = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateEventWithFlag(nullptr, ACL_EVENT_SYNC));
  const uint32_t bad[] = {0,
                          0x4,
                          0x80,
                          ACL_EVENT_SYNC | 0x1000,
                          UINT32_MAX,
                          ACL_EVENT_IPC,
                          ACL_EVENT_IPC | ACL_EVENT_SYNC,
                          ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC,
                          ACL_EVENT_EXTERNAL | ACL_EVENT_TIME_LINE,
                          ACL_EVENT_EXTERNAL | ACL_EVENT_CAPTURE_STREAM_PROGRESS};
  for (uint32_t flags : bad) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateEventWithFlag(&event, flags)) << flags;
  }
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateEventWithFlag(&event, 0))
        << "values come before the context";
  });
  EXPECT_EQ(event, UntouchedPointer());
  const uint32_t good[] = {ACL_EVENT_SYNC,
                           ACL_EVENT_CAPTURE_STREAM_PROGRESS,
                           ACL_EVENT_TIME_LINE,
                           ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE,
                           ACL_EVENT_DEVICE_USE_ONLY,
                           ACL_EVENT_EXTERNAL};
  for (uint32_t flags : good) {
    Event made = FlagEvent(flags);
    EXPECT_NE(made.get(), nullptr) << flags;
  }
}

TEST_F(EventFlagCodes, WithoutSyncNoStreamWaits) {
  Stream stream;
  for (uint32_t flags : {ACL_EVENT_TIME_LINE, ACL_EVENT_CAPTURE_STREAM_PROGRESS,
                         ACL_EVENT_TIME_LINE | ACL_EVENT_CAPTURE_STREAM_PROGRESS}) {
    Event event = FlagEvent(flags);
    auto wait = ACL_EVENT_WAIT_STATUS_RESERVED;
    EXPECT_FALSE(IsComplete(event.get())) << "never recorded";
    ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
    EXPECT_OK(aclrtSynchronizeEvent(event.get()));
    EXPECT_TRUE(IsComplete(event.get()));
    EXPECT_EQ(Queried(event.get()), ACL_EVENT_STATUS_COMPLETE);
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamWaitEvent(stream.get(), event.get()));
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
               aclrtStreamWaitEventWithTimeout(stream.get(), event.get(), 5));
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(event.get(), stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtQueryEventWaitStatus(event.get(), &wait));
    EXPECT_EQ(wait, ACL_EVENT_WAIT_STATUS_RESERVED);
  }
}

TEST_F(EventFlagCodes, ResetArguments) {
  Event event = FlagEvent(), ex = ExEvent(), ex_timing = ExEvent(ACL_EVENT_TIME_LINE);
  Stream stream, consumer;
  ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtResetEvent(nullptr, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(ex.get(), stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(ex_timing.get(), stream.get()));
  for (aclrtEvent dead : {DeadEvent(), aclrtEvent{UntouchedPointer()}}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtResetEvent(dead, stream.get()));
  }
  for (aclrtStream dead : DeadStreams()) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtResetEvent(event.get(), dead));
  }
  InOtherContext(
      [&] { EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtResetEvent(event.get(), stream.get())); });
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtResetEvent(event.get(), stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtResetEvent(event.get(), nullptr));
  });
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
  EXPECT_OK(aclrtSynchronizeStream(consumer.get())) << "no refusal cleared the bit";
}

// §4.2: accepted for old callers.
TEST_F(EventFlagCodes, ResetOfAPlainEventDropsItsSnapshot) {
  Event event = PlainEvent();
  Stream stream, consumer;
  ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  Hold hold(stream.get());
  EXPECT_OK(aclrtResetEvent(event.get(), stream.get()));
  EXPECT_TRUE(IsComplete(event.get())) << "in stream order";
  ASSERT_TRUE(hold.Land());
  EXPECT_FALSE(IsComplete(event.get())) << "as never recorded";
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
  EXPECT_OK(aclrtSynchronizeStream(consumer.get()));
  EXPECT_OK(aclrtSynchronizeEvent(event.get()));
}

TEST_F(EventFlagCodes, AnotherDevice) {
  Event event = FlagEvent(), external = FlagEvent(ACL_EVENT_EXTERNAL);
  ASSERT_OK(aclrtSetDevice(1));
  for (const Event* each : {&event, &external}) {
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtRecordEvent(each->get(), nullptr));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtStreamWaitEvent(nullptr, each->get()));
  }
  ASSERT_OK(aclrtSetDevice(0));
}

}  // namespace
}  // namespace conformance
