// SPEC 20 §3, §4.3, 21 §6.3: who reports a task that failed in a stream that goes on (the default mode), and
// how often.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;
constexpr aclError kFault = ACL_ERROR_RT_AICORE_EXCEPTION;

class StreamFailure : public OnDevice0 {
 protected:
  // A task that fails and has no effect, when its turn comes.
  static void SubmitFailing(const DeviceBlock& block, aclrtStream stream, aclError code = kFault) {
    ASSERT_OK(belay_fail_next_task(stream, code));
    ASSERT_OK(FillAsync(block, 0xbb, stream)) << "an asynchronous call only queues";
  }
};

TEST_F(StreamFailure, AWaitReportsItOnce) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  for (aclrtStream s : {stream.get(), aclrtStream{nullptr}}) {
    for (int way = 0; way < 3; ++way) {
      ASSERT_OK(aclrtMemset(block.get(), kSize, 1, kSize));
      SubmitFailing(block, s);
      const aclError code = way == 0   ? aclrtSynchronizeStream(s)
                            : way == 1 ? aclrtSynchronizeStreamWithTimeout(s, 60'000)
                                       : aclrtSynchronizeDevice();
      EXPECT_EQ(code, kFault) << way;
      EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), kFault) << "in the thread that reports it";
      EXPECT_OK(aclrtSynchronizeStream(s));
      EXPECT_OK(aclrtSynchronizeStreamWithTimeout(s, 60'000));
      EXPECT_OK(aclrtSynchronizeDevice());
      EXPECT_EQ(StatusOf(s), ACL_STREAM_STATUS_COMPLETE);
      EXPECT_TRUE(Holds(block, 1));
    }
  }
}

TEST_F(StreamFailure, AQueryReportsItOnce) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  Hold hold(stream.get());
  SubmitFailing(block, stream.get());
  EXPECT_EQ(StatusOf(stream.get()), ACL_STREAM_STATUS_NOT_READY) << "it has not run yet";
  ASSERT_TRUE(hold.Land());
  auto status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(kFault, aclrtStreamQuery(stream.get(), &status));
  EXPECT_EQ(status, ACL_STREAM_STATUS_RESERVED);
  EXPECT_EQ(StatusOf(stream.get()), ACL_STREAM_STATUS_COMPLETE);
  hold.Release();
  EXPECT_OK(aclrtSynchronizeStream(stream.get())) << "a query counts as reporting";
}

TEST_F(StreamFailure, LaterTasksRunAndTheFirstFailureIsKept) {
  DeviceBlock block(Bytes(kSize, 1)), other(Bytes(kSize, 1));
  Stream stream, bystander;
  SubmitFailing(block, stream.get(), kFault);
  SubmitFailing(block, stream.get(), ACL_ERROR_RT_AICPU_EXCEPTION);
  ASSERT_OK(FillAsync(block, 3, stream.get()));
  ASSERT_OK(FillAsync(other, 4, bystander.get()));
  EXPECT_OK(aclrtSynchronizeStream(bystander.get())) << "another stream";
  EXPECT_ACL(kFault, aclrtSynchronizeStream(stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_TRUE(Holds(block, 3));
  EXPECT_TRUE(Holds(other, 4));
}

TEST_F(StreamFailure, DestroyingReportsNothing) {
  DeviceBlock block(Bytes(kSize, 1)), other(Bytes(kSize, 1));
  Stream ordinary, forced;
  SubmitFailing(block, ordinary.get());
  SubmitFailing(other, forced.get());
  EXPECT_OK(aclrtDestroyStream(ordinary.release()));
  EXPECT_OK(aclrtDestroyStreamForce(forced.release()));
}

// The parameter: the call that reports.
enum class Way { kSynchronize, kSynchronizeWithTimeout, kQueryStatus };
class EventFailure : public StreamFailure, public testing::WithParamInterface<Way> {
 protected:
  static aclError Ask(aclrtEvent event) {
    auto status = static_cast<aclrtEventRecordedStatus>(77);
    aclError code = ACL_SUCCESS;
    switch (GetParam()) {
      case Way::kSynchronize:
        return aclrtSynchronizeEvent(event);
      case Way::kSynchronizeWithTimeout:
        return aclrtSynchronizeEventWithTimeout(event, 60'000);
      case Way::kQueryStatus:
        code = aclrtQueryEventStatus(event, &status);
        EXPECT_EQ(status, code == ACL_SUCCESS ? ACL_EVENT_RECORDED_STATUS_NOT_READY
                                              : static_cast<aclrtEventRecordedStatus>(77));
        return code;
    }
    return ACL_ERROR_FAILURE;
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, EventFailure,
                         testing::Values(Way::kSynchronize, Way::kSynchronizeWithTimeout, Way::kQueryStatus));

TEST_P(EventFailure, ARecordThatCoversItReportsItOnce) {
  DeviceBlock block(Bytes(kSize, 1));
  Event plain = PlainEvent(), ex = ExEvent(), timing = ExEvent(ACL_EVENT_TIME_LINE);
  for (const Event* event : {&plain, &ex, &timing}) {
    Stream stream;
    Hold hold(stream.get());
    SubmitFailing(block, stream.get());
    ASSERT_OK(FillAsync(block, 3, stream.get()));
    ASSERT_OK(aclrtRecordEvent(event->get(), stream.get()));
    EXPECT_EQ(hold.LandAll(), 3);
    EXPECT_ACL(kFault, Ask(event->get()));
    EXPECT_OK(Ask(event->get()));
    EXPECT_FALSE(IsComplete(event->get())) << "the record stays one that failed";
    hold.Release();
    EXPECT_OK(aclrtSynchronizeStream(stream.get())) << "reported";
    ASSERT_OK(aclrtRecordEvent(event->get(), stream.get()));
    EXPECT_OK(aclrtSynchronizeEvent(event->get()));
    EXPECT_TRUE(IsComplete(event->get())) << "a record after the report";
  }
}

TEST_P(EventFailure, ARecordBeforeItDoesNot) {
  DeviceBlock block(Bytes(kSize, 1));
  Event event = PlainEvent();
  Stream stream;
  Hold hold(stream.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
  SubmitFailing(block, stream.get());
  EXPECT_EQ(hold.LandAll(), 2);
  EXPECT_TRUE(IsComplete(event.get()));
  EXPECT_OK(aclrtSynchronizeEvent(event.get()));
  hold.Release();
  EXPECT_ACL(kFault, aclrtSynchronizeStream(stream.get())) << "still unreported";
}

TEST_F(StreamFailure, OldEventQueriesReportItToo) {
  DeviceBlock block(Bytes(kSize, 1));
  for (bool waits : {false, true}) {
    Event event = PlainEvent();
    Stream stream;
    Hold hold(stream.get());
    SubmitFailing(block, stream.get());
    ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
    EXPECT_EQ(hold.LandAll(), 2);
    auto status = ACL_EVENT_STATUS_RESERVED;
    auto wait_status = ACL_EVENT_WAIT_STATUS_RESERVED;
    EXPECT_EQ(
        waits ? aclrtQueryEventWaitStatus(event.get(), &wait_status) : aclrtQueryEvent(event.get(), &status),
        kFault);
    EXPECT_EQ(status, ACL_EVENT_STATUS_RESERVED);
    EXPECT_EQ(wait_status, ACL_EVENT_WAIT_STATUS_RESERVED);
    aclrtSynchronizeStream(stream.get());
  }
}

TEST_F(StreamFailure, AWaitForAFailedRecordIsPassed) {
  DeviceBlock block(Bytes(kSize, 1)), other(Bytes(kSize, 1));
  Event event = PlainEvent();
  Stream producer, consumer;
  SubmitFailing(block, producer.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
  ASSERT_OK(FillAsync(other, 5, consumer.get()));
  EXPECT_OK(aclrtSynchronizeStream(consumer.get())) << "the failure is the producer's";
  EXPECT_TRUE(Holds(other, 5));
  EXPECT_ACL(kFault, aclrtSynchronizeStream(producer.get()));
}

}  // namespace
}  // namespace conformance
