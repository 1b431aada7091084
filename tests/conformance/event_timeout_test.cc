// SPEC 20 §4.3, §8: waits on the device that have a limit. An expired one is a task that failed with 107020,
// reported by a later synchronisation.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;
constexpr aclError kExpired = ACL_ERROR_RT_TASK_TIMEOUT;
constexpr int32_t kLong = 600'000;

class EventTimeout : public OnTwoDevices {
 protected:
  // The limit is the process's.
  void TearDown() override {
    EXPECT_OK(aclrtSetOpWaitTimeout(0));
    OnTwoDevices::TearDown();
  }
};

TEST_F(EventTimeout, AnExpiredWaitIsReportedOnce) {
  DeviceBlock block(Bytes(kSize, 1));
  Event plain = PlainEvent(), ex = ExEvent();
  Stream producer;
  Hold hold(producer.get());
  for (const Event* event : {&plain, &ex}) {
    Stream consumer;
    for (aclrtStream s : {consumer.get(), aclrtStream{nullptr}}) {
      for (int way = 0; way < 3; ++way) {
        ASSERT_OK(aclrtMemset(block.get(), kSize, 1, kSize));
        ASSERT_OK(aclrtRecordEvent(event->get(), producer.get()));
        EXPECT_OK(aclrtStreamWaitEventWithTimeout(s, event->get(), 1));
        ASSERT_OK(FillAsync(block, 2, s));
        EXPECT_EQ(way == 0   ? aclrtSynchronizeStream(s)
                  : way == 1 ? aclrtSynchronizeStreamWithTimeout(s, kLong)
                             : aclrtSynchronizeStreamWithTimeout(s, -1),
                  kExpired)
            << way;
        EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), kExpired);
        EXPECT_OK(aclrtSynchronizeStream(s)) << "once";
        EXPECT_TRUE(Holds(block, 2)) << "later tasks run";
        EXPECT_FALSE(IsComplete(event->get())) << "the record is still pending";
      }
    }
  }
}

TEST_F(EventTimeout, AFlagEventExpiresToo) {
  Event event = FlagEvent();
  Stream consumer, recorder;
  EXPECT_OK(aclrtStreamWaitEventWithTimeout(consumer.get(), event.get(), 1)) << "never recorded";
  EXPECT_ACL(kExpired, aclrtSynchronizeStream(consumer.get()));
  ASSERT_OK(aclrtRecordEvent(event.get(), recorder.get()));
  ASSERT_OK(aclrtSynchronizeStream(recorder.get()));
  EXPECT_OK(aclrtStreamWaitEventWithTimeout(consumer.get(), event.get(), 1));
  EXPECT_OK(aclrtSynchronizeStream(consumer.get()));
}

TEST_F(EventTimeout, TheRecordBehindAnExpiredWaitReportsIt) {
  Event gate = PlainEvent(), behind = PlainEvent();
  Stream producer, consumer;
  Hold hold(producer.get());
  ASSERT_OK(aclrtRecordEvent(gate.get(), producer.get()));
  for (int way = 0; way < 2; ++way) {
    ASSERT_OK(aclrtStreamWaitEventWithTimeout(consumer.get(), gate.get(), 1));
    ASSERT_OK(aclrtRecordEvent(behind.get(), consumer.get()));
    EXPECT_ACL(kExpired, way == 0 ? aclrtSynchronizeEvent(behind.get())
                                  : aclrtSynchronizeEventWithTimeout(behind.get(), kLong));
    EXPECT_OK(aclrtSynchronizeStream(consumer.get()));
  }
  ASSERT_OK(aclrtStreamWaitEventWithTimeout(consumer.get(), gate.get(), 1));
  hold.Forget();
  ASSERT_OK(aclrtDestroyStreamForce(producer.release()));
  EXPECT_ACL(kExpired, aclrtSynchronizeDevice());
}

TEST_F(EventTimeout, ARecordInTime) {
  DeviceBlock block(Bytes(kSize, 1));
  Event event = PlainEvent();
  Stream producer, consumer;
  Hold hold(producer.get());
  ASSERT_OK(FillAsync(block, 2, producer.get()));
  ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
  for (int32_t limit : {kLong, INT32_MAX}) {
    EXPECT_OK(aclrtStreamWaitEventWithTimeout(consumer.get(), event.get(), limit));
  }
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(consumer.get(), 0));
  hold.Release();
  EXPECT_OK(aclrtSynchronizeStream(consumer.get()));
  EXPECT_TRUE(Holds(block, 2));
}

// The limit counts from when the wait reaches the head of its stream.
TEST_F(EventTimeout, TimeBehindOtherTasksDoesNotCount) {
  Event gate = PlainEvent(), ready = PlainEvent();
  Stream producer, other, consumer;
  Hold hold(producer.get());
  ASSERT_OK(aclrtRecordEvent(gate.get(), producer.get()));
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), gate.get()));
  ASSERT_OK(aclrtRecordEvent(ready.get(), other.get()));
  ASSERT_OK(aclrtSynchronizeStream(other.get()));
  ASSERT_OK(aclrtStreamWaitEventWithTimeout(consumer.get(), ready.get(), 1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(consumer.get(), 20));
  hold.Release();
  EXPECT_OK(aclrtSynchronizeStream(consumer.get()));
}

TEST_F(EventTimeout, TheLimitOfTheProcess) {
  Event event = PlainEvent(), flag = FlagEvent();
  Stream producer, before, during, signal, own, after;
  Hold hold(producer.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
  ASSERT_OK(aclrtStreamWaitEvent(before.get(), event.get()));
  UntilBlocked(before.get());
  OnNewThread([] {
    EXPECT_OK(aclrtSetOpWaitTimeout(3600)) << "no device is needed";
    EXPECT_OK(aclrtSetOpWaitTimeout(1)) << "the last one counts";
  });
  ASSERT_OK(aclrtStreamWaitEventWithTimeout(own.get(), event.get(), kLong));
  UntilBlocked(own.get());
  ASSERT_OK(aclrtStreamWaitEvent(during.get(), event.get()));
  ASSERT_OK(aclrtStreamWaitEvent(signal.get(), flag.get()));
  EXPECT_OK(aclrtSetOpWaitTimeout(0));
  ASSERT_OK(aclrtStreamWaitEvent(after.get(), event.get()));
  EXPECT_ACL(kExpired, aclrtSynchronizeStream(during.get()));
  EXPECT_ACL(kExpired, aclrtSynchronizeStream(signal.get()));
  for (const Stream* stream : {&before, &own, &after}) {
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream->get(), 0))
        << "a wait submitted before the limit was set, one with its own limit, one after it was taken back";
  }
  hold.Release();
  EXPECT_OK(aclrtSynchronizeDevice());
}

TEST_F(EventTimeout, AnOwnLimitWins) {
  Event event = FlagEvent();
  Stream consumer;
  ASSERT_OK(aclrtSetOpWaitTimeout(3600));
  ASSERT_OK(aclrtStreamWaitEventWithTimeout(consumer.get(), event.get(), 1));
  EXPECT_ACL(kExpired, aclrtSynchronizeStream(consumer.get()));
}

TEST_F(EventTimeout, Arguments) {
  Event event = PlainEvent(), timing = ExEvent(ACL_EVENT_TIME_LINE), flag = FlagEvent(ACL_EVENT_TIME_LINE);
  Stream stream;
  ASSERT_OK(aclrtRecordEvent(event.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamWaitEventWithTimeout(stream.get(), nullptr, 10));
  for (int32_t bad : {0, -1, INT32_MIN}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamWaitEventWithTimeout(stream.get(), event.get(), bad))
        << bad;
  }
  for (const Event* other : {&timing, &flag}) {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
               aclrtStreamWaitEventWithTimeout(stream.get(), other->get(), 10));
  }
  for (aclrtEvent dead : {DeadEvent(), aclrtEvent{UntouchedPointer()}}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamWaitEventWithTimeout(stream.get(), dead, 10));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamWaitEventWithTimeout(stream.get(), dead, -1))
        << "values come before handles";
  }
  for (aclrtStream dead : DeadStreams()) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamWaitEventWithTimeout(dead, event.get(), 10));
  }
  InOtherContext([&] {
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtStreamWaitEventWithTimeout(stream.get(), event.get(), 10));
  });
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtStreamWaitEventWithTimeout(nullptr, event.get(), 10))
      << "an event of another device";
  ASSERT_OK(aclrtSetDevice(0));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtStreamWaitEventWithTimeout(stream.get(), event.get(), 10));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtStreamWaitEventWithTimeout(nullptr, event.get(), 10));
  });
  EXPECT_OK(aclrtSynchronizeDevice()) << "no refusal was submitted";
}

}  // namespace
}  // namespace conformance
