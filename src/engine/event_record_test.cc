#include "engine/event_record.h"

#include "engine/engine_test.h"
#include "os/thread.h"

namespace belay::engine {
namespace {

class EventTest : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(, EventTest, testing::ValuesIn(kModes), ModeName);

TEST_P(EventTest, ARecordCompletesWithItsStream) {
  Stream* stream = NewStream();
  Event* event = NewEvent();
  EXPECT_EQ(event->Latest(), nullptr) << "never recorded";
  std::vector<uint8_t> from(kMiB, 1), to(kMiB);
  HostCopy(*stream, to.data(), from.data(), from.size());
  Record(*stream, *event);
  EventRecord* record = event->Latest();
  EXPECT_TRUE(engine_->WaitRecord(*record));
  EXPECT_TRUE(record->complete());
  EXPECT_EQ(to, from);
  EXPECT_EQ(record->stream(), stream);
  EXPECT_EQ(record->sequence(), 2u);
  EXPECT_TRUE(engine_->WaitRecord(*record)) << "again";
  record->Drop();
  DestroyStream(stream);
  DestroyEvent(event);
}

TEST_P(EventTest, AWaitBindsToItsRecordAndRecordingAgainDisturbsNobody) {
  gate().Close();
  Stream *held = NewStream(), *other = NewStream(), *late = NewStream();
  Event* event = NewEvent();
  Record(gate_stream(), *event);
  EventRecord* first = event->Latest();
  WaitForLatest(*held, *event);
  uint64_t held_last = held->submitted();

  Record(*other, *event);  // the event is complete again at once, the first record is not
  EventRecord* second = event->Latest();
  EXPECT_NE(second, first);
  EXPECT_TRUE(engine_->WaitRecord(*second));
  WaitForLatest(*late, *event);
  EXPECT_TRUE(engine_->Wait(*late, late->submitted()));

  EXPECT_FALSE(first->complete());
  EXPECT_FALSE(engine_->Wait(*held, held_last, 0));
  EXPECT_EQ(event->pending_waits.load(), 1u);
  gate().Open();
  EXPECT_TRUE(engine_->WaitRecord(*first));
  EXPECT_TRUE(engine_->Wait(*held, held_last));
  EXPECT_EQ(event->pending_waits.load(), 0u);
  first->Drop();
  second->Drop();
  for (Stream* stream : {held, other, late}) DestroyStream(stream);
  DestroyEvent(event);
}

TEST_P(EventTest, ALaterRecordOfAHeldStreamDoesNotHoldEarlierWaits) {
  gate().Close();
  Stream *producer = NewStream(), *consumer = NewStream();
  Event *event = NewEvent(), *hold = NewEvent();
  Record(*producer, *event);
  EventRecord* first = event->Latest();
  Record(gate_stream(), *hold);
  WaitForLatest(*producer, *hold);
  Record(*producer, *event);  // pending
  WaitFor(*consumer, *first);
  EXPECT_TRUE(engine_->Wait(*consumer, consumer->submitted())) << "bound to the record that is complete";
  first->Drop();
  gate().Open();
  for (Stream* stream : {producer, consumer}) DestroyStream(stream);
  DestroyEvent(event);
  DestroyEvent(hold);
}

TEST_P(EventTest, ACompleteRecordIsUsedAgainOnlyWhenNobodyHoldsIt) {
  Stream* stream = NewStream();
  Event* event = NewEvent();
  Record(*stream, *event);
  EventRecord* held = event->Latest();
  EXPECT_TRUE(engine_->WaitRecord(*held));
  engine_->Wait(*stream, stream->submitted());
  Record(*stream, *event);
  EventRecord* next = event->Latest();
  EXPECT_NE(next, held);
  EXPECT_TRUE(held->complete()) << "an older generation stays complete";
  held->Drop();
  next->Drop();
  DestroyStream(stream);
  DestroyEvent(event);
}

TEST_P(EventTest, AnEventMayGoWhileItsRecordIsPending) {
  gate().Close();
  Stream* stream = NewStream();
  Event* event = NewEvent();
  Record(gate_stream(), *event);
  WaitForLatest(*stream, *event);
  event->SetLatest(nullptr);
  event->Drop();
  EXPECT_FALSE(engine_->Query(*stream));
  gate().Open();
  EXPECT_TRUE(engine_->Wait(*stream, stream->submitted()));
  DestroyStream(stream);
}

// Fifty parked streams and one worker: it is free for others all the time.
TEST_P(EventTest, WaitsParkStreamsAndBlockNoWorker) {
  constexpr size_t kChain = 50;
  gate().Close();
  std::vector<Stream*> chain;
  std::vector<uint8_t> bytes(kChain + 1);
  bytes[0] = 9;
  Event* event = NewEvent();
  Record(gate_stream(), *event);
  for (size_t i = 0; i < kChain; ++i) {
    chain.push_back(NewStream());
    WaitForLatest(*chain[i], *event);
    HostCopy(*chain[i], &bytes[i + 1], &bytes[i], 1);
    Record(*chain[i], *event);
  }
  Stream* free_stream = NewStream();
  std::vector<uint8_t> from(kMiB, 1), to(kMiB);
  uint64_t last = HostCopy(*free_stream, to.data(), from.data(), from.size());
  if (GetParam().workers != 0 && GetParam().policy.delivery() != Policy::Delivery::kWaiter) {
    // Only looked at, not helped.
    for (int64_t end = os::MonotonicNs() + 20'000'000'000; !free_stream->Idle() && os::MonotonicNs() < end;) {
      sched_yield();
    }
    EXPECT_TRUE(free_stream->Idle());
  }
  EXPECT_TRUE(engine_->Wait(*free_stream, last));
  EXPECT_EQ(to, from);
  for (Stream* stream : chain) EXPECT_FALSE(engine_->Query(*stream));
  EXPECT_EQ(bytes[1], 0);
  gate().Open();
  EXPECT_TRUE(engine_->Wait(*chain.back(), chain.back()->submitted()));
  EXPECT_EQ(bytes.back(), 9);
  for (Stream* stream : chain) DestroyStream(stream);
  DestroyStream(free_stream);
  DestroyEvent(event);
}

TEST_P(EventTest, OneRecordFreesManyStreams) {
  for (int round = 0; round < 20; ++round) {
    gate().Close();
    Event *first = NewEvent(), *second = NewEvent();
    Record(gate_stream(), *first);
    std::vector<Stream*> streams;
    for (int i = 0; i < 16; ++i) {
      streams.push_back(NewStream());
      WaitForLatest(*streams.back(), *first);
    }
    Record(*streams[3], *second);
    // Behind the first wait each stream waits once more, so those that are freed early are parked again at
    // once.
    for (Stream* stream : streams) WaitForLatest(*stream, *second);
    gate().Open();
    for (Stream* stream : streams) {
      EXPECT_TRUE(engine_->Wait(*stream, stream->submitted(), os::MonotonicNs() + 60'000'000'000));
      DestroyStream(stream);
    }
    DestroyEvent(first);
    DestroyEvent(second);
  }
}

TEST_P(EventTest, AStreamMayWaitForItself) {
  Stream* stream = NewStream();
  Event* event = NewEvent();
  std::vector<uint8_t> from(kMiB, 1), to(kMiB);
  for (int i = 0; i < 20; ++i) {
    HostCopy(*stream, to.data(), from.data(), from.size());
    Record(*stream, *event);
    WaitForLatest(*stream, *event);
  }
  EXPECT_TRUE(engine_->Wait(*stream, stream->submitted()));
  DestroyStream(stream);
  DestroyEvent(event);
}

class LongChainTest : public EngineFixture {};

TEST_F(LongChainTest, AHostWaitsThroughAnyNumberOfStreams) {
  Build({"Async0", Policy::Async(), 0});
  constexpr int kStreams = 4300;
  Event* event = NewEvent();
  std::vector<Stream*> chain;
  std::vector<uint8_t> big(kMiB), to(kMiB);
  chain.push_back(NewStream());
  HostCopy(*chain[0], to.data(), big.data(), big.size());
  Record(*chain[0], *event);
  for (int i = 1; i < kStreams; ++i) {
    chain.push_back(NewStream());
    WaitForLatest(*chain.back(), *event);
    Record(*chain.back(), *event);
  }
  EXPECT_TRUE(engine_->Wait(*chain.back(), 2, os::MonotonicNs() + 100'000'000'000));
  for (Stream* stream : chain) DestroyStream(stream);
  DestroyEvent(event);
}

}  // namespace
}  // namespace belay::engine
