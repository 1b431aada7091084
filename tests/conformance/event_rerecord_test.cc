// SPEC 20 §4.2: snapshot events (plain and Ex). A wait is bound at the call to the latest record; later
// records do not move it.
#include <memory>

#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

// The parameter: flags of aclrtCreateEventExWithFlag; 0 = aclrtCreateEvent.
class EventRerecord : public OnDevice0, public testing::WithParamInterface<uint32_t> {
 protected:
  static Event Make() { return GetParam() == 0 ? PlainEvent() : ExEvent(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, EventRerecord,
                         testing::Values(0, ACL_EVENT_SYNC, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, 0x0e));

TEST_P(EventRerecord, ALaterRecordDoesNotMoveAWait) {
  Event event = Make();
  Stream producer, early, late;
  Hold producing(producer.get()), hold_early(early.get()), hold_late(late.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
  ASSERT_OK(aclrtStreamWaitEvent(early.get(), event.get()));
  ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
  ASSERT_OK(aclrtStreamWaitEvent(late.get(), event.get()));
  EXPECT_FALSE(hold_early.Land());
  EXPECT_FALSE(hold_late.Land());
  ASSERT_TRUE(producing.Land());
  EXPECT_FALSE(hold_late.Land());
  EXPECT_TRUE(hold_early.Land());
  ASSERT_TRUE(producing.Land());
  EXPECT_TRUE(hold_late.Land());
}

TEST_P(EventRerecord, QueriesAndHostWaitsMeanTheLatestRecord) {
  Event event = Make();
  Stream producer;
  Hold producing(producer.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
  ASSERT_TRUE(producing.Land());
  EXPECT_TRUE(IsComplete(event.get()));
  ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
  EXPECT_FALSE(IsComplete(event.get()));
  EXPECT_ACL(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event.get(), 1));
  ASSERT_TRUE(producing.Land());
  EXPECT_TRUE(IsComplete(event.get()));
  EXPECT_OK(aclrtSynchronizeEvent(event.get()));
}

TEST_P(EventRerecord, ARecordMayChangeTheStream) {
  Event event = Make();
  Stream slow, quick, early, late;
  Hold held(slow.get()), hold_early(early.get()), hold_late(late.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), slow.get()));
  ASSERT_OK(aclrtStreamWaitEvent(early.get(), event.get()));
  ASSERT_OK(aclrtRecordEvent(event.get(), quick.get()));
  ASSERT_OK(aclrtStreamWaitEvent(late.get(), event.get()));
  EXPECT_OK(aclrtSynchronizeEvent(event.get())) << "the first stream no longer matters";
  EXPECT_TRUE(IsComplete(event.get()));
  EXPECT_TRUE(hold_late.Land());
  EXPECT_FALSE(hold_early.Land());
  ASSERT_TRUE(held.Land());
  EXPECT_TRUE(hold_early.Land());
  EXPECT_TRUE(IsComplete(event.get()));
}

TEST_P(EventRerecord, AWaitBeforeEveryRecordPasses) {
  Event event = Make();
  Stream producer, consumer;
  Hold producing(producer.get()), waiting(consumer.get());
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
  ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
  EXPECT_TRUE(waiting.Land()) << "nothing was recorded when it was submitted";
  EXPECT_FALSE(IsComplete(event.get()));
}

TEST_P(EventRerecord, EveryGenerationHasItsWaiters) {
  constexpr int kRounds = 50;
  Event event = Make();
  Stream producer;
  std::vector<Stream> consumers(kRounds);
  Hold producing(producer.get());
  std::vector<std::unique_ptr<Hold>> holds;
  for (Stream& consumer : consumers) {
    holds.push_back(std::make_unique<Hold>(consumer.get()));
    ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
    ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
  }
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_FALSE(holds[round]->Land()) << round;
    ASSERT_EQ(IsComplete(event.get()), false) << round;
    ASSERT_TRUE(producing.Land());
    ASSERT_TRUE(holds[round]->Land()) << round;
    if (round + 1 < kRounds) {
      ASSERT_FALSE(holds[kRounds - 1]->Land()) << round;
    }
  }
  EXPECT_TRUE(IsComplete(event.get()));
}

TEST_P(EventRerecord, TheRecordingStreamDoesNotWaitForItself) {
  DeviceBlock block(Bytes(kSize, 1));
  Event event = Make();
  Stream stream;
  ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
  ASSERT_OK(aclrtStreamWaitEvent(stream.get(), event.get()));
  ASSERT_OK(FillAsync(block, 2, stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_TRUE(Holds(block, 2));
}

TEST_P(EventRerecord, DestroyedWithEverythingPending) {
  DeviceBlock block(Bytes(kSize, 1));
  Event event = Make();
  Stream producer, consumer;
  Hold producing(producer.get()), waiting(consumer.get());
  ASSERT_OK(FillAsync(block, 2, producer.get()));
  ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
  EXPECT_OK(aclrtDestroyEvent(event.release()));
  ASSERT_TRUE(producing.Land());
  EXPECT_FALSE(waiting.Land()) << "the record lives on";
  ASSERT_TRUE(producing.Land());
  EXPECT_TRUE(waiting.Land());
}

// A record captures the tasks before it and no later one.
TEST_P(EventRerecord, ARecordCoversTheTasksBeforeIt) {
  DeviceBlock block(Bytes(kSize, 1)), behind(Bytes(kSize, 1));
  Event event = Make();
  Stream stream;
  Hold hold(stream.get());
  ASSERT_OK(FillAsync(block, 2, stream.get()));
  ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
  ASSERT_OK(FillAsync(behind, 3, stream.get()));
  ASSERT_TRUE(hold.Land());
  EXPECT_FALSE(IsComplete(event.get()));
  ASSERT_TRUE(hold.Land());
  EXPECT_TRUE(IsComplete(event.get()));
  EXPECT_OK(aclrtSynchronizeEvent(event.get()));
  EXPECT_TRUE(Holds(block, 2));
  EXPECT_EQ(Pending(stream.get()), 1u);
}

class EventRerecordWaits : public OnDevice0 {};

TEST_F(EventRerecordWaits, TheWaitStatusOfAPlainEvent) {
  Event event = PlainEvent();
  Stream producer, consumer;
  Hold producing(producer.get()), waiting(consumer.get());
  EXPECT_EQ(WaitsFor(event.get()), ACL_EVENT_WAIT_STATUS_COMPLETE) << "nothing is pending";
  ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
  EXPECT_EQ(WaitsFor(event.get()), ACL_EVENT_WAIT_STATUS_NOT_READY) << "the record";
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
  ASSERT_TRUE(producing.Land());
  EXPECT_EQ(WaitsFor(event.get()), ACL_EVENT_WAIT_STATUS_NOT_READY) << "the wait";
  EXPECT_TRUE(IsComplete(event.get()));
  ASSERT_TRUE(waiting.Land());
  EXPECT_EQ(WaitsFor(event.get()), ACL_EVENT_WAIT_STATUS_COMPLETE);
}

}  // namespace
}  // namespace conformance
