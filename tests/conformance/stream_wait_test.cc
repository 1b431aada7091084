// SPEC 20 §3, §4.3: waits with a limit and queries while work is certainly unfinished; 11 §2.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

class StreamWait : public OnDevice0 {};

aclError TakeLastError() {
  return aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

TEST_F(StreamWait, LimitsExpireAndTheStreamGoesOn) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  for (aclrtStream s : {stream.get(), aclrtStream{nullptr}}) {
    Hold hold(s);
    ASSERT_OK(FillAsync(block, 2, s));
    EXPECT_EQ(StatusOf(s), ACL_STREAM_STATUS_NOT_READY);
    EXPECT_EQ(TakeLastError(), ACL_SUCCESS);
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(s, 0));
    EXPECT_EQ(TakeLastError(), ACL_SUCCESS) << "a poll that finds work is no error to remember";
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(s, 5));
    EXPECT_EQ(TakeLastError(), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(Pending(s), 1u);
    hold.Release();
    EXPECT_OK(aclrtSynchronizeStreamWithTimeout(s, -1));
    EXPECT_EQ(StatusOf(s), ACL_STREAM_STATUS_COMPLETE);
    EXPECT_OK(aclrtSynchronizeStreamWithTimeout(s, 0));
    EXPECT_TRUE(Holds(block, 2));
    ASSERT_OK(aclrtMemset(block.get(), kSize, 1, kSize));
  }
}

TEST_F(StreamWait, EventLimitsExpireAndTheEventGoesOn) {
  Stream stream;
  Event plain = PlainEvent(), ex = ExEvent(), flag = FlagEvent(), timing = ExEvent(ACL_EVENT_TIME_LINE);
  for (const Event* event : {&plain, &ex, &flag, &timing}) {
    Hold hold(stream.get());
    ASSERT_OK(aclrtRecordEvent(event->get(), stream.get()));
    EXPECT_FALSE(IsComplete(event->get()));
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    EXPECT_ACL(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event->get(), 0));
    EXPECT_EQ(TakeLastError(), ACL_SUCCESS);
    EXPECT_ACL(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event->get(), 5));
    EXPECT_EQ(TakeLastError(), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    for (int bad : {-2, INT32_MIN}) {
      EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeEventWithTimeout(event->get(), bad));
    }
    hold.Release();
    EXPECT_OK(aclrtSynchronizeEventWithTimeout(event->get(), -1));
    EXPECT_OK(aclrtSynchronizeEventWithTimeout(event->get(), 0));
    EXPECT_TRUE(IsComplete(event->get()));
  }
}

TEST_F(StreamWait, QueriesOfAPendingRecord) {
  Stream stream;
  Event plain = PlainEvent(), flag = FlagEvent();
  for (const Event* event : {&plain, &flag}) {
    Hold hold(stream.get());
    ASSERT_OK(aclrtRecordEvent(event->get(), stream.get()));
    EXPECT_EQ(Queried(event->get()), ACL_EVENT_STATUS_NOT_READY);
    EXPECT_EQ(Recorded(event->get()), ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT_EQ(WaitsFor(event->get()), ACL_EVENT_WAIT_STATUS_NOT_READY);
    ASSERT_TRUE(hold.Land());
    EXPECT_EQ(Queried(event->get()), ACL_EVENT_STATUS_COMPLETE);
    EXPECT_EQ(Recorded(event->get()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT_EQ(WaitsFor(event->get()), ACL_EVENT_WAIT_STATUS_COMPLETE);
  }
}

TEST_F(StreamWait, AnyThreadMayAsk) {
  Stream stream;
  Event event = PlainEvent();
  Hold hold(stream.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
  OnNewThread([&] {
    EXPECT_EQ(Queried(event.get()), ACL_EVENT_STATUS_NOT_READY) << "a record of another thread";
    EXPECT_ACL(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event.get(), 1));
  });
  hold.Release();
  OnNewThread([&] {
    EXPECT_OK(aclrtSynchronizeEvent(event.get()));
    EXPECT_EQ(Queried(event.get()), ACL_EVENT_STATUS_COMPLETE);
  });
}

}  // namespace
}  // namespace conformance
