// SPEC 20 §4.3: aclrtEventElapsedTime and aclrtEventGetTimestamp.
#include <chrono>

#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr float kNoTime = -77.0F;

uint64_t Timestamp(aclrtEvent event) {
  uint64_t timestamp = 0;
  EXPECT_OK(aclrtEventGetTimestamp(event, &timestamp));
  return timestamp;
}

float Elapsed(aclrtEvent start, aclrtEvent end) {
  float ms = kNoTime;
  EXPECT_OK(aclrtEventElapsedTime(&ms, start, end));
  return ms;
}

class EventTiming : public OnTwoDevices {
 protected:
  static void RecordAndWait(aclrtEvent event, aclrtStream stream) {
    ASSERT_OK(aclrtRecordEvent(event, stream));
    ASSERT_OK(aclrtSynchronizeEvent(event));
  }
  // Records until the clock has moved on.
  static void RecordLaterThan(aclrtEvent earlier, aclrtEvent event, aclrtStream stream) {
    for (int i = 0; i < 1'000'000; ++i) {
      RecordAndWait(event, stream);
      if (Timestamp(event) > Timestamp(earlier)) return;
    }
    FAIL() << "the clock of the device stands still";
  }
  static void Refused(aclError code, aclrtEvent event) {
    Event timed = PlainEvent();
    RecordAndWait(timed.get(), nullptr);
    float ms = kNoTime;
    uint64_t timestamp = kUntouched;
    EXPECT_ACL(code, aclrtEventElapsedTime(&ms, timed.get(), event));
    EXPECT_ACL(code, aclrtEventElapsedTime(&ms, event, timed.get()));
    EXPECT_ACL(code, aclrtEventGetTimestamp(event, &timestamp));
    EXPECT_EQ(ms, kNoTime);
    EXPECT_EQ(timestamp, kUntouched);
  }
};

TEST_F(EventTiming, KindsThatHaveATime) {
  Stream stream;
  Event events[] = {
      PlainEvent(),  ExEvent(ACL_EVENT_TIME_LINE),   ExEvent(ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC),
      ExEvent(0x0e), FlagEvent(ACL_EVENT_TIME_LINE), FlagEvent(ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC)};
  for (const Event& event : events) ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  const Event* before = nullptr;
  for (const Event& event : events) {
    if (before != nullptr) {
      const float ms = Elapsed(before->get(), event.get());
      const uint64_t from = Timestamp(before->get()), to = Timestamp(event.get());
      EXPECT_LE(from, to) << "recorded later in the same stream";
      EXPECT_GE(ms, 0.0F);
      EXPECT_NEAR(ms * 1000, static_cast<double>(to - from), 2.0) << "the two agree to a microsecond";
    }
    before = &event;
  }
  EXPECT_EQ(Elapsed(events[0].get(), events[0].get()), 0.0F);
}

// The option time is wall: what the device counts lies between two times that the host took.
TEST_F(EventTiming, TimeIsThatOfTheDevice) {
  using Clock = std::chrono::steady_clock;
  const auto us = [](Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  Stream stream;
  Event start = PlainEvent(), end = PlainEvent();
  DeviceBlock block(16 * kMiB);
  const auto before = Clock::now();
  RecordAndWait(start.get(), stream.get());
  const auto from = Clock::now();
  ASSERT_OK(FillAsync(block, 1, stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  const auto to = Clock::now();
  RecordAndWait(end.get(), stream.get());
  const auto after = Clock::now();
  const double elapsed = Elapsed(start.get(), end.get()) * 1000.0;
  EXPECT_GE(elapsed, us(to - from) - 2);
  EXPECT_LE(elapsed, us(after - before) + 2);
  const auto counted = static_cast<double>(Timestamp(end.get()) - Timestamp(start.get()));
  EXPECT_GE(counted, us(to - from) - 2);
  EXPECT_LE(counted, us(after - before) + 2);
}

TEST_F(EventTiming, ARecordMovesTheTime) {
  Stream stream;
  Event first = PlainEvent(), event = ExEvent(ACL_EVENT_TIME_LINE);
  RecordAndWait(first.get(), stream.get());
  RecordLaterThan(first.get(), event.get(), stream.get());
  EXPECT_GT(Elapsed(first.get(), event.get()), 0.0F);
  RecordLaterThan(event.get(), first.get(), stream.get());
  EXPECT_GT(Elapsed(event.get(), first.get()), 0.0F);
}

TEST_F(EventTiming, Reversal) {
  Stream stream;
  Event first = PlainEvent(), second = PlainEvent();
  RecordAndWait(first.get(), stream.get());
  RecordLaterThan(first.get(), second.get(), stream.get());
  float ms = kNoTime;
  EXPECT_ACL(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, aclrtEventElapsedTime(&ms, second.get(), first.get()));
  EXPECT_EQ(ms, kNoTime);
  EXPECT_GT(Elapsed(first.get(), second.get()), 0.0F);
}

TEST_F(EventTiming, NotComplete) {
  Stream stream;
  Event plain = PlainEvent(), ex = ExEvent(ACL_EVENT_TIME_LINE), flag = FlagEvent(ACL_EVENT_TIME_LINE);
  for (const Event* event : {&plain, &ex, &flag}) {
    RecordAndWait(event->get(), stream.get());
    Hold hold(stream.get());
    ASSERT_OK(aclrtRecordEvent(event->get(), stream.get()));
    Refused(ACL_ERROR_RT_EVENT_NOT_COMPLETE, event->get());
    ASSERT_TRUE(hold.Land());
    EXPECT_GT(Timestamp(event->get()), 0u);
  }
}

TEST_F(EventTiming, WithoutATime) {
  Event never = PlainEvent(), ex = ExEvent(), progress = ExEvent(ACL_EVENT_CAPTURE_STREAM_PROGRESS);
  Event flag = FlagEvent(), external = FlagEvent(ACL_EVENT_EXTERNAL);
  Event never_ex = ExEvent(ACL_EVENT_TIME_LINE), never_flag = FlagEvent(ACL_EVENT_TIME_LINE);
  for (const Event* event : {&ex, &progress, &flag, &external}) RecordAndWait(event->get(), nullptr);
  for (const Event* event : {&never, &never_ex, &never_flag, &ex, &progress, &flag, &external}) {
    Refused(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, event->get());
  }
}

TEST_F(EventTiming, TwoStreamsOfADevice) {
  Stream a, b;
  Event start = PlainEvent(), end = PlainEvent();
  RecordAndWait(start.get(), a.get());
  RecordLaterThan(start.get(), end.get(), b.get());
  EXPECT_GT(Elapsed(start.get(), end.get()), 0.0F);
}

TEST_F(EventTiming, TwoDevices) {
  Event here = PlainEvent();
  RecordAndWait(here.get(), nullptr);
  ASSERT_OK(aclrtSetDevice(1));
  Event there = PlainEvent();
  RecordAndWait(there.get(), nullptr);
  float ms = kNoTime;
  EXPECT_ACL(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, here.get(), there.get()));
  EXPECT_ACL(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, there.get(), here.get()));
  EXPECT_EQ(ms, kNoTime);
  Timestamp(here.get());
  Timestamp(there.get());
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(EventTiming, Arguments) {
  Event event = PlainEvent();
  RecordAndWait(event.get(), nullptr);
  float ms = kNoTime;
  uint64_t timestamp = kUntouched;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtEventElapsedTime(nullptr, event.get(), event.get()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtEventElapsedTime(&ms, nullptr, event.get()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtEventElapsedTime(&ms, event.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtEventGetTimestamp(nullptr, &timestamp));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtEventGetTimestamp(event.get(), nullptr));
  for (aclrtEvent dead : {DeadEvent(), aclrtEvent{UntouchedPointer()}}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtEventElapsedTime(&ms, dead, event.get()));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtEventElapsedTime(&ms, event.get(), dead));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtEventGetTimestamp(dead, &timestamp));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtEventGetTimestamp(dead, nullptr)) << "null pointers come first";
  }
  EXPECT_EQ(ms, kNoTime);
  EXPECT_EQ(timestamp, kUntouched);
  OnNewThread([&] {
    EXPECT_EQ(Elapsed(event.get(), event.get()), 0.0F) << "the handles are enough";
    Timestamp(event.get());
  });
}

}  // namespace
}  // namespace conformance
