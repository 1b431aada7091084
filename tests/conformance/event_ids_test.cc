// SPEC 20 §2.1, §4.1, §4.3: the hardware ids of events: who holds one, how long, and what happens when none
// is left. The suites FourEvents and EventIdsAtTheLimit run in processes of their own.
#include <chrono>
#include <set>

#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr uint32_t kNoId = 0xFFFFFFFF;

uint32_t Available() {
  uint32_t left = 77;
  EXPECT_OK(aclrtGetEventAvailNum(&left));
  return left;
}

uint32_t IdOf(aclrtEvent event) {
  uint32_t id = 77;
  EXPECT_OK(aclrtGetEventId(event, &id));
  return id;
}

class EventIds : public OnTwoDevices {};

TEST_F(EventIds, FlagEventsHoldOneFromCreationToDestruction) {
  const uint32_t before = Available();
  EXPECT_EQ(before, 65536u);
  {
    Event sync = FlagEvent();
    EXPECT_EQ(Available(), before - 1);
    Event external = FlagEvent(ACL_EVENT_EXTERNAL);
    EXPECT_EQ(Available(), before - 2);
    Event timing = FlagEvent(ACL_EVENT_TIME_LINE), progress = FlagEvent(ACL_EVENT_CAPTURE_STREAM_PROGRESS);
    EXPECT_EQ(Available(), before - 2) << "neither SYNC nor EXTERNAL";
    ASSERT_OK(aclrtRecordEvent(sync.get(), nullptr));
    ASSERT_OK(aclrtRecordEvent(timing.get(), nullptr));
    EXPECT_EQ(Available(), before - 2) << "a record takes no second one";
    ASSERT_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_EQ(Available(), before - 2);
    const uint32_t a = IdOf(sync.get()), b = IdOf(external.get());
    EXPECT_NE(a, b);
    EXPECT_LT(a, 65536u);
    EXPECT_LT(b, 65536u);
    EXPECT_EQ(IdOf(timing.get()), kNoId);
  }
  EXPECT_EQ(Available(), before);
}

TEST_F(EventIds, SnapshotEventsHoldOneWhileTheRecordIsPending) {
  const uint32_t before = Available();
  Event plain = PlainEvent(), ex = ExEvent(), timed = ExEvent(ACL_EVENT_TIME_LINE);
  EXPECT_EQ(Available(), before) << "creation takes nothing";
  for (const Event* event : {&plain, &ex, &timed}) EXPECT_EQ(IdOf(event->get()), kNoId);
  for (const Event* event : {&plain, &ex}) {
    Stream stream;
    Hold hold(stream.get());
    ASSERT_OK(aclrtRecordEvent(event->get(), stream.get()));
    EXPECT_EQ(Available(), before - 1);
    const uint32_t id = IdOf(event->get());
    EXPECT_LT(id, 65536u);
    ASSERT_TRUE(hold.Land());
    EXPECT_EQ(Available(), before) << "no wait is bound to it";
    EXPECT_EQ(IdOf(event->get()), id) << "the one it held last";
  }
  Stream stream;
  Hold hold(stream.get());
  ASSERT_OK(aclrtRecordEvent(timed.get(), stream.get()));
  EXPECT_EQ(Available(), before) << "without SYNC it never holds one";
  EXPECT_EQ(IdOf(timed.get()), kNoId);
}

TEST_F(EventIds, AndUntilEveryWaitBoundToItRan) {
  const uint32_t before = Available();
  Event plain = PlainEvent(), ex = ExEvent();
  for (const Event* event : {&plain, &ex}) {
    Stream producer, a, b;
    Hold producing(producer.get()), hold_a(a.get()), hold_b(b.get());
    ASSERT_OK(aclrtRecordEvent(event->get(), producer.get()));
    ASSERT_OK(aclrtStreamWaitEvent(a.get(), event->get()));
    ASSERT_OK(aclrtStreamWaitEvent(b.get(), event->get()));
    ASSERT_TRUE(producing.Land());
    EXPECT_EQ(Available(), before - 1);
    ASSERT_TRUE(hold_a.Land());
    EXPECT_EQ(Available(), before - 1);
    ASSERT_TRUE(hold_b.Land());
    EXPECT_EQ(Available(), before);
  }
}

TEST_F(EventIds, DestroyedEarlyTheIdIsFreeWhenTheRecordIsDone) {
  const uint32_t before = Available();
  Event event = PlainEvent();
  Stream stream;
  Hold hold(stream.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
  ASSERT_OK(aclrtDestroyEvent(event.release()));
  ASSERT_TRUE(hold.Land());
  EXPECT_EQ(Available(), before);
}

TEST_F(EventIds, DevicesHaveTheirOwn) {
  Event here = FlagEvent();
  const uint32_t left = Available();
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_EQ(Available(), left + 1);
  Event there = FlagEvent();
  EXPECT_EQ(Available(), left);
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_EQ(Available(), left);
}

TEST_F(EventIds, Arguments) {
  Event event = FlagEvent();
  uint32_t value = 77;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetEventAvailNum(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetEventId(event.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetEventId(nullptr, &value));
  for (aclrtEvent dead : {DeadEvent(), aclrtEvent{UntouchedPointer()}}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtGetEventId(dead, &value));
  }
  const uint32_t id = IdOf(event.get());
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetEventAvailNum(&value));
    EXPECT_EQ(IdOf(event.get()), id) << "the handle is enough";
  });
  EXPECT_EQ(value, 77u);
}

// A product with four event ids.
class FourEvents : public OnTwoDevices {
 protected:
  void SetUp() override {
    if (Variant() != "small limits") GTEST_SKIP() << "needs a product of four events";
    OnTwoDevices::SetUp();
  }
};

// Case C30
TEST_F(FourEvents, CreationFailsAtTheLimit) {
  EXPECT_EQ(Available(), 4u);
  {
    Event a = FlagEvent(), b = FlagEvent(), c = FlagEvent(ACL_EVENT_EXTERNAL), d = FlagEvent();
    EXPECT_EQ(Available(), 0u);
    std::set<uint32_t> ids;
    for (const Event* event : {&a, &b, &c, &d}) ids.insert(IdOf(event->get()));
    EXPECT_EQ(ids.size(), 4u);
    aclrtEvent extra = UntouchedPointer();
    EXPECT_ACL(ACL_ERROR_RT_NO_EVENT_RESOURCE, aclrtCreateEventWithFlag(&extra, ACL_EVENT_SYNC));
    EXPECT_ACL(ACL_ERROR_RT_NO_EVENT_RESOURCE, aclrtCreateEventWithFlag(&extra, ACL_EVENT_EXTERNAL));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateEventWithFlag(&extra, 0)) << "resources come last";
    EXPECT_EQ(extra, UntouchedPointer());
    Event timing = FlagEvent(ACL_EVENT_TIME_LINE), plain = PlainEvent(), ex = ExEvent();
    EXPECT_NE(plain.get(), nullptr) << "these need no id at creation";
    ASSERT_OK(aclrtDestroyEvent(b.release()));
    Event again = FlagEvent();
    EXPECT_NE(again.get(), nullptr);
    ASSERT_OK(aclrtSetDevice(1));
    Event elsewhere = FlagEvent();
    EXPECT_NE(elsewhere.get(), nullptr) << "the limit is the device's";
    ASSERT_OK(aclrtSetDevice(0));
  }
  EXPECT_EQ(Available(), 4u);
}

TEST_F(FourEvents, ARecordFailsWhenNoTaskCanFreeAnId) {
  DeviceBlock block(Bytes(64, 1));
  Event a = FlagEvent(), b = FlagEvent(), c = FlagEvent(), d = FlagEvent();
  Event plain = PlainEvent(), ex = ExEvent(), timed = ExEvent(ACL_EVENT_TIME_LINE);
  Stream stream;
  for (const Event* event : {&plain, &ex}) {
    EXPECT_ACL(ACL_ERROR_RT_NO_EVENT_RESOURCE, aclrtRecordEvent(event->get(), stream.get()));
    EXPECT_EQ(IdOf(event->get()), kNoId);
  }
  EXPECT_EQ(Recorded(plain.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY) << "never recorded";
  EXPECT_EQ(Pending(stream.get()), 0u);
  EXPECT_OK(aclrtRecordEvent(timed.get(), stream.get())) << "it needs no id";
  EXPECT_OK(aclrtRecordEvent(a.get(), stream.get())) << "it has one";
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  ASSERT_OK(aclrtDestroyEvent(d.release()));
  EXPECT_OK(aclrtRecordEvent(plain.get(), stream.get()));
  EXPECT_OK(aclrtSynchronizeEvent(plain.get()));
}

TEST_F(FourEvents, ARecordWaitsForAPendingTaskToFreeAnId) {
  Event pending[] = {PlainEvent(), ExEvent(), PlainEvent(), ExEvent()};
  Event plain = PlainEvent();
  Stream held, stream;
  Hold hold(held.get());
  for (const Event& event : pending) ASSERT_OK(aclrtRecordEvent(event.get(), held.get()));
  EXPECT_EQ(Available(), 0u);
  aclrtEvent extra = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_RT_NO_EVENT_RESOURCE, aclrtCreateEventWithFlag(&extra, ACL_EVENT_SYNC))
      << "creation does not wait";
  std::future<aclError> record =
      OnThread(CurrentContext(), [&] { return aclrtRecordEvent(plain.get(), stream.get()); });
  EXPECT_NE(record.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_EQ(Pending(stream.get()), 0u);
  EXPECT_TRUE(hold.Land());
  hold.Release();
  EXPECT_EQ(record.get(), ACL_SUCCESS);
  EXPECT_OK(aclrtSynchronizeEvent(plain.get()));
  EXPECT_EQ(extra, UntouchedPointer());
}

TEST_F(FourEvents, ARunOfRecordsNeverFails) {
  Event events[] = {PlainEvent(), ExEvent(), PlainEvent(), ExEvent(), PlainEvent(), ExEvent()};
  Stream producer, consumer;
  for (int round = 0; round < 50; ++round) {
    for (const Event& event : events) {
      ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
      ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event.get()));
    }
  }
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(Available(), 4u);
}

// Case C30 at the documented number.
class EventIdsAtTheLimit : public OnDevice0 {
 protected:
  void SetUp() override {
    if (Variant() != "real limits") GTEST_SKIP() << "writes a long log: once in the run";
    OnDevice0::SetUp();
  }
};

TEST_F(EventIdsAtTheLimit, RunsOutAtTheDocumentedNumber) {
  // SPEC 20 §2.1
  const uint32_t limit = OnSoc("Ascend310P") ? 1023 : OnSoc("Ascend910A") ? 65535 : 65536;
  ASSERT_EQ(Available(), limit);
  std::vector<aclrtEvent> events(limit);
  for (aclrtEvent& event : events) ASSERT_OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
  EXPECT_EQ(Available(), 0u);
  aclrtEvent extra = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_RT_NO_EVENT_RESOURCE, aclrtCreateEventWithFlag(&extra, ACL_EVENT_SYNC));
  EXPECT_EQ(extra, UntouchedPointer());
  for (aclrtEvent event : events) ASSERT_OK(aclrtDestroyEvent(event));
  EXPECT_EQ(Available(), limit);
  EXPECT_OK(aclrtCreateEventWithFlag(&extra, ACL_EVENT_SYNC));
  EXPECT_OK(aclrtDestroyEvent(extra));
}

}  // namespace
}  // namespace conformance
