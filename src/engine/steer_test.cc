// Streams that are held, emptied, stopped and made to fail; signals, words and user code. Every schedule and
// number of workers.
#include <thread>

#include "engine/callback_scope.h"
#include "engine/engine_test.h"

namespace belay::engine {
namespace {

class SteerTest : public EngineFixture, public testing::WithParamInterface<Mode> {
 protected:
  void SetUp() override { Build(GetParam()); }

  uint64_t Await(Stream& stream, Signal& signal, bool clear) {
    Op op;
    engine_->SubmitAwait(stream, signal, Signal::Condition::kGreaterOrEqual, 1, clear, 0, op);
    return stream.submitted();
  }
  void Set(Stream& stream, Signal& signal, uint32_t value = 1) {
    Op op;
    engine_->SubmitSignal(stream, signal, Signal::Change::kSet, value, op);
  }
  uint64_t Call(Stream& stream, void (*function)(void*), void* argument) {
    Op op;
    op.kind = OpKind::kHostFunc;
    op.host = {function, argument, true};
    return engine_->Submit(stream, op, 0);
  }
};

TEST_P(SteerTest, AHeldStreamLandsOneTaskAtATime) {
  Stream* stream = NewStream();
  uint8_t from[3] = {1, 2, 3}, to[3] = {};
  engine_->Hold(*stream, Engine::Holder::kTest);
  EXPECT_FALSE(engine_->Land(*stream)) << "nothing is queued";
  for (int i = 0; i < 3; ++i) HostCopy(*stream, &to[i], &from[i], 1);
  EXPECT_EQ(to[0], 0);
  size_t count = 0;
  EXPECT_EQ(engine_->Pending(*stream, 2, &count).size(), 2u);
  EXPECT_EQ(count, 3u);
  EXPECT_TRUE(engine_->Land(*stream));
  EXPECT_EQ(to[0], 1);
  EXPECT_EQ(to[1], 0);
  EXPECT_FALSE(engine_->Query(*stream));
  engine_->Hold(*stream, Engine::Holder::kStop);
  engine_->Resume(*stream, Engine::Holder::kTest);
  EXPECT_EQ(to[1], 0) << "another hand holds it still";
  engine_->Resume(*stream, Engine::Holder::kStop);
  EXPECT_TRUE(engine_->Wait(*stream, stream->submitted()));
  EXPECT_EQ(to[2], 3);
  DestroyStream(stream);
}

TEST_P(SteerTest, AnAbortDropsWhatIsQueuedAndTheStreamGoesOn) {
  Stream *stream = NewStream(), *other = NewStream();
  Event* event = NewEvent();
  uint8_t from = 7, to = 0;
  engine_->Hold(*stream, Engine::Holder::kTest);
  HostCopy(*stream, &to, &from, 1);
  Record(*stream, *event);
  WaitForLatest(*other, *event);
  uint32_t aborts = stream->aborts();
  EXPECT_TRUE(engine_->Abort({stream}, 107023));
  engine_->Resume(*stream, Engine::Holder::kTest);
  EXPECT_EQ(stream->aborts(), aborts + 1);
  EXPECT_EQ(stream->abort_code(), 107023);
  EXPECT_TRUE(stream->Idle());
  EXPECT_EQ(to, 0);
  EventRecord* record = event->Latest();
  EXPECT_TRUE(record->dropped());
  record->Drop();
  EXPECT_FALSE(engine_->Query(*other)) << "a dropped record frees nobody";
  EXPECT_TRUE(engine_->Abort({other}, 107023));
  HostCopy(*stream, &to, &from, 1);
  EXPECT_TRUE(engine_->Wait(*stream, stream->submitted()));
  EXPECT_EQ(to, 7);
  DestroyStream(stream);
  DestroyStream(other);
  DestroyEvent(event);
}

TEST_P(SteerTest, AFailureStopsItsDomain) {
  Domain domain;
  domain.stops_on_failure.store(true);
  Stream* failing = engine_->CreateStream(0, 1, &domain);
  Stream* queued = engine_->CreateStream(0, 2, &domain);
  uint8_t from = 7, to = 0;
  engine_->Hold(*queued, Engine::Holder::kTest);
  HostCopy(*queued, &to, &from, 1);
  engine_->FailNext(*failing, 507015);
  uint64_t last = HostCopy(*failing, &to, &from, 1);
  EXPECT_TRUE(engine_->Wait(*failing, last));
  EXPECT_TRUE(domain.stopped());
  EXPECT_EQ(domain.first_failure().code, 507015);
  EXPECT_TRUE(queued->Idle()) << "its task was dropped";
  HostCopy(*queued, &to, &from, 1);
  engine_->Resume(*queued, Engine::Holder::kTest);
  EXPECT_EQ(to, 0) << "and nothing more is taken";
  engine_->TakeFailure(*failing, ~uint64_t{0});
  engine_->Restart(domain);
  HostCopy(*queued, &to, &from, 1);
  EXPECT_TRUE(engine_->Wait(*queued, queued->submitted()));
  EXPECT_EQ(to, 7);
  engine_->DestroyStream(failing);
  engine_->DestroyStream(queued);
}

TEST_P(SteerTest, ASignalReleasesTheOldestWaiterFirst) {
  Stream *first = NewStream(), *second = NewStream(), *setter = NewStream();
  auto* signal = new Signal;
  uint64_t a = Await(*first, *signal, true);
  engine_->Query(*first);  // its turn comes, whatever the schedule
  uint64_t b = Await(*second, *signal, true);
  engine_->Query(*second);
  Set(*setter, *signal);
  EXPECT_TRUE(engine_->Wait(*first, a));
  EXPECT_EQ(signal->value(), 0u) << "it was taken";
  EXPECT_LT(second->done(), b);
  Set(*setter, *signal);
  EXPECT_TRUE(engine_->Wait(*second, b));
  EXPECT_EQ(signal->pending_waits.load(), 0u);
  engine_->Wait(*setter, setter->submitted());
  signal->Drop();
  for (Stream* stream : {first, second, setter}) DestroyStream(stream);
}

TEST_P(SteerTest, AWaitWithALimitFailsAndTheStreamGoesOn) {
  Stream* stream = NewStream();
  auto* signal = new Signal;
  uint8_t from = 7, to = 0;
  Op op;
  engine_->SubmitAwait(*stream, *signal, Signal::Condition::kEqual, 5, false, 1'000'000, op);
  HostCopy(*stream, &to, &from, 1);
  EXPECT_TRUE(engine_->Wait(*stream, stream->submitted()));
  EXPECT_EQ(engine_->TakeFailure(*stream, ~uint64_t{0}).code, 107020);
  EXPECT_EQ(to, 7);
  signal->Drop();
  DestroyStream(stream);
}

TEST_P(SteerTest, HostFunctionsOfTwoStreamsMayWaitForEachOther) {
  Stream *first = NewStream(), *second = NewStream();
  std::atomic<uint32_t> met{0};
  auto meet = [](void* argument) {
    auto& word = *static_cast<std::atomic<uint32_t>*>(argument);
    word.fetch_add(1);
    os::FutexWakeAll(word);
    while (word.load() < 2) os::FutexWait(word, 1);
    EXPECT_EQ(CallbackScope::Current()->kind, CallbackScope::Kind::kHostFunction);
  };
  Call(*first, meet, &met);
  Call(*second, meet, &met);
  uint8_t from = 7, to = 0;
  HostCopy(*first, &to, &from, 1);
  EXPECT_TRUE(engine_->Wait(*first, first->submitted()));
  EXPECT_TRUE(engine_->Wait(*second, second->submitted()));
  EXPECT_EQ(met.load(), 2u);
  EXPECT_EQ(to, 7);
  EXPECT_EQ(CallbackScope::Current(), nullptr);
  DestroyStream(first);
  DestroyStream(second);
}

TEST_P(SteerTest, UserCodeRunsWithoutAnybodyWaiting) {
  Stream *stream = NewStream(), *other = NewStream();
  Event* event = NewEvent();
  std::vector<uint8_t> from(kMiB, 1), to(kMiB);
  std::atomic<uint32_t> ran{0};
  HostCopy(*other, to.data(), from.data(), from.size());
  Record(*other, *event);
  WaitForLatest(*stream, *event);
  Call(
      *stream,
      [](void* argument) {
        auto& word = *static_cast<std::atomic<uint32_t>*>(argument);
        word.store(1);
        os::FutexWakeAll(word);
      },
      &ran);
  while (ran.load() == 0) os::FutexWait(ran, 0);
  EXPECT_EQ(to, from) << "what the function waits for is not put off";
  EXPECT_TRUE(engine_->Wait(*stream, stream->submitted()));
  EXPECT_TRUE(engine_->Wait(*other, other->submitted()));
  DestroyStream(stream);
  DestroyStream(other);
  DestroyEvent(event);
}

TEST_P(SteerTest, AWordIsLookedAtAgainWhenItWasWritten) {
  memory::Allocation* block = NewBlock(64);
  Stream *waiter = NewStream(), *writer = NewStream();
  ASSERT_NE(block, nullptr);
  Fill(*writer, block, 0, 64, 0);
  engine_->Wait(*writer, writer->submitted());
  Op op;
  op.kind = OpKind::kValueWait;
  op.value = {EngineBytes(block), DeviceSide(block), 5, WordCondition::kGreaterOrEqual, false};
  uint64_t last = engine_->Submit(*waiter, op, 8);
  EXPECT_FALSE(engine_->Query(*waiter));
  Op write;
  write.kind = OpKind::kValueWrite;
  write.value = {EngineBytes(block), DeviceSide(block), 6, WordCondition::kEqual, false};
  engine_->Submit(*writer, write, 8);
  EXPECT_TRUE(engine_->Wait(*waiter, last));
  EXPECT_TRUE(engine_->Wait(*writer, writer->submitted()));
  DestroyStream(waiter);
  DestroyStream(writer);
  FreeBlock(block);
}

INSTANTIATE_TEST_SUITE_P(, SteerTest, testing::ValuesIn(kModes), ModeName);

}  // namespace
}  // namespace belay::engine
