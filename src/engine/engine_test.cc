#include "engine/engine_test.h"

#include <malloc.h>

#include <algorithm>

#include "os/thread.h"

namespace belay::engine {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

INSTANTIATE_TEST_SUITE_P(, EngineTest, testing::ValuesIn(kModes), ModeName);

std::vector<uint8_t> Pattern(size_t bytes, uint32_t seed) {
  std::vector<uint8_t> pattern(bytes);
  uint64_t word = seed * 0x9e3779b97f4a7c15u + 1;
  for (uint8_t& byte : pattern) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<uint8_t>(word >> 56);
  }
  return pattern;
}

TEST_P(EngineTest, BytesGoToTheDeviceAndBack) {
  for (uint64_t bytes : {uint64_t{1}, uint64_t{4097}, 300 * kKiB, 3 * kMiB}) {
    Stream* stream = NewStream(1);
    memory::Allocation* block = NewBlock(bytes, 1);
    std::vector<uint8_t> source = Pattern(bytes, 1), target(bytes);
    Copy(*stream, CopyShape::Linear(EngineBytes(block, 1), source.data(), bytes), DeviceSide(block, 1), {});
    uint64_t last = Copy(*stream, CopyShape::Linear(target.data(), EngineBytes(block, 1), bytes), {},
                         DeviceSide(block, 1));
    EXPECT_EQ(last, stream->submitted());
    EXPECT_TRUE(engine_->Wait(*stream, last));
    EXPECT_EQ(source, target);
    EXPECT_TRUE(stream->Idle());
    DestroyStream(stream);
    FreeBlock(block, 1);
  }
}

TEST_P(EngineTest, TasksOfAStreamRunInOrder) {
  Stream* stream = NewStream();
  std::vector<uint8_t> buffers(40 * 300 * kKiB);
  std::vector<uint8_t> first = Pattern(300 * kKiB, 7);
  for (int round = 0; round < 3; ++round) {
    std::fill(buffers.begin(), buffers.end(), 0);
    memcpy(buffers.data(), first.data(), first.size());
    // Each copies what the one before wrote; large and small ones in turn, so that some could run inside the
    // call.
    uint64_t last = 0;
    for (size_t i = 1; i < 40; ++i) {
      uint8_t* to = &buffers[i * 300 * kKiB];
      last = HostCopy(*stream, to, to - 300 * kKiB, i % 3 == 0 ? 100 * kKiB : 300 * kKiB);
    }
    EXPECT_TRUE(engine_->Wait(*stream, last));
    EXPECT_EQ(memcmp(&buffers[39 * 300 * kKiB], first.data(), 100 * kKiB), 0);
    if (eager()) {
      EXPECT_EQ(stream->done(), stream->submitted());
    }
  }
  DestroyStream(stream);
}

TEST_P(EngineTest, EagerTasksLandInsideTheCall) {
  Stream* stream = NewStream();
  std::vector<uint8_t> from(2 * kMiB, 3), to(2 * kMiB);
  HostCopy(*stream, to.data(), from.data(), from.size());
  if (eager()) {
    EXPECT_TRUE(stream->Idle());
    EXPECT_EQ(to, from);
  }
  HostCopy(*stream, to.data(), from.data(), 100);
  engine_->Wait(*stream, stream->submitted());
  uint64_t small = HostCopy(*stream, to.data(), from.data(), 100);
  bool inside = GetParam().policy.delivery() != Policy::Delivery::kWaiter;
  EXPECT_EQ(stream->done() >= small, inside) << "small work on an idle stream runs inside the call";
  DestroyStream(stream);
}

TEST_P(EngineTest, WaitingHelpsSoNoWorkerIsNeeded) {
  Stream *first = NewStream(), *second = NewStream();
  std::vector<uint8_t> a(kMiB, 1), b(kMiB), c(kMiB);
  Event* event = NewEvent();
  HostCopy(*first, b.data(), a.data(), a.size());
  Record(*first, *event);
  WaitForLatest(*second, *event);
  uint64_t last = HostCopy(*second, c.data(), b.data(), b.size());
  EXPECT_TRUE(engine_->Wait(*second, last)) << "which runs the other stream first";
  EXPECT_EQ(c, a);
  DestroyStream(first);
  DestroyStream(second);
  DestroyEvent(event);
}

TEST_P(EngineTest, PollingEnds) {
  Stream* stream = NewStream();
  std::vector<uint8_t> from(kMiB, 1), to(kMiB);
  Event* event = NewEvent();
  for (int i = 0; i < 5; ++i) HostCopy(*stream, to.data(), from.data(), from.size());
  Record(*stream, *event);
  HostCopy(*stream, to.data(), from.data(), from.size());
  EventRecord* record = event->Latest();
  while (!engine_->QueryRecord(*record)) {
  }
  EXPECT_GE(stream->done(), 5u);
  while (!engine_->Query(*stream)) {
  }
  EXPECT_TRUE(stream->Idle());
  record->Drop();
  DestroyStream(stream);
  DestroyEvent(event);
}

TEST_P(EngineTest, QueriesAndShortWaitsNeverWaitForARunningTask) {
  gate().Close();
  Stream* stream = NewStream();
  Event *held = NewEvent(), *behind = NewEvent();
  Record(gate_stream(), *held);
  WaitForLatest(*stream, *held);
  Record(*stream, *behind);
  EventRecord* record = behind->Latest();
  uint64_t last = stream->submitted();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(engine_->Query(*stream));
    EXPECT_FALSE(engine_->Query(gate_stream()));
    EXPECT_FALSE(engine_->QueryRecord(*record));
    EXPECT_FALSE(engine_->Wait(*stream, last, 0));
    EXPECT_FALSE(engine_->WaitRecord(*record, 0));
  }
  int64_t start = os::MonotonicNs();
  EXPECT_FALSE(engine_->Wait(*stream, last, start + 3'000'000));
  EXPECT_GE(os::MonotonicNs() - start, 3'000'000);
  EXPECT_FALSE(engine_->WaitRecord(*record, start + 6'000'000));
  EXPECT_GE(os::MonotonicNs() - start, 6'000'000);
  gate().Open();
  EXPECT_TRUE(engine_->Wait(*stream, last, os::MonotonicNs() + 60'000'000'000));
  EXPECT_TRUE(engine_->WaitRecord(*record, 0));
  record->Drop();
  DestroyStream(stream);
  DestroyEvent(held);
  DestroyEvent(behind);
}

TEST_P(EngineTest, DestroyingAStreamWaitsForItsTasks) {
  std::vector<uint8_t> from(kMiB, 1), to(12 * kMiB);
  for (int round = 0; round < 5; ++round) {
    std::fill(to.begin(), to.end(), 0);
    Stream* stream = NewStream();
    for (size_t i = 0; i < 12; ++i) HostCopy(*stream, &to[i * kMiB], from.data(), kMiB);
    DestroyStream(stream);
    EXPECT_TRUE(to[0] == 1 && memcmp(&to[0], &to[1], to.size() - 1) == 0);
  }
}

TEST_P(EngineTest, DestroyingAHeldStreamWaitsToo) {
  gate().Close();
  Stream* stream = NewStream();
  Event* event = NewEvent();
  Record(gate_stream(), *event);
  WaitForLatest(*stream, *event);
  uint8_t from = 5, to = 0;
  HostCopy(*stream, &to, &from, 1);
  std::thread opener([&] { gate().Open(); });
  DestroyStream(stream);
  EXPECT_EQ(to, 5);
  opener.join();
  DestroyEvent(event);
}

TEST_P(EngineTest, ADestroyedStreamsTasksCountAsDone) {
  Stream* stream = NewStream();
  uint8_t from = 5, to = 0;
  for (int i = 0; i < 10; ++i) HostCopy(*stream, &to, &from, 1);
  DestroyStream(stream);
  Stream* next = NewStream();
  EXPECT_EQ(next, stream) << "the storage is used again";
  EXPECT_TRUE(engine_->Wait(*stream, 10, os::MonotonicNs() + 1'000'000'000)) << "a late waiter goes on";
  EXPECT_TRUE(next->Idle());
  EXPECT_EQ(HostCopy(*next, &to, &from, 1), 11u);
  DestroyStream(next);
}

TEST_P(EngineTest, FailuresAreReportedOnceAndTheStreamGoesOn) {
  Build(GetParam(), 0);  // no host RAM for device bytes at all
  Stream* stream = NewStream();
  memory::Allocation* block = NewBlock(3 * kMiB);
  uint8_t from = 5, to = 0;
  HostCopy(*stream, &to, &from, 1);
  uint64_t second = Fill(*stream, block, 0, 100, 1);
  Fill(*stream, block, 0, 3 * kMiB, 1);
  uint64_t last = HostCopy(*stream, &to, &from, 1);
  EXPECT_TRUE(engine_->Wait(*stream, last));
  EXPECT_EQ(to, 5) << "tasks after the failure run";
  EXPECT_TRUE(stream->failed());
  EXPECT_EQ(engine_->TakeFailure(*stream, second - 1).code, 0) << "not yet part of what was asked for";
  Failure failure = engine_->TakeFailure(*stream, last);
  EXPECT_EQ(failure.code, 207018);
  EXPECT_EQ(failure.sequence, second) << "the first one";
  EXPECT_EQ(engine_->TakeFailure(*stream, last).code, 0);
  EXPECT_FALSE(stream->failed());
  Fill(*stream, block, 0, 100, 1);
  engine_->Wait(*stream, stream->submitted());
  EXPECT_EQ(engine_->TakeFailure(*stream, stream->submitted()).sequence, last + 1);

  // A failure nobody asked for does not reach the next stream in the same place, whose tasks count from 1
  // again.
  Fill(*stream, block, 0, 100, 1);
  DestroyStream(stream);
  stream = NewStream();
  EXPECT_FALSE(stream->failed());
  HostCopy(*stream, &to, &from, 1);
  last = Fill(*stream, block, 0, 100, 1);
  engine_->Wait(*stream, last);
  EXPECT_EQ(engine_->TakeFailure(*stream, last).sequence, 2u);
  EXPECT_EQ(memory_->physical().used_bytes(), 0u);
  DestroyStream(stream);
  FreeBlock(block);
}

TEST_P(EngineTest, ACopyNeedsItsPeerDirectionWhenItStarts) {
  Build(GetParam(), kBudget, false);
  Stream* stream = NewStream(0);
  memory::Allocation *here = NewBlock(1000, 0), *there = NewBlock(1000, 1);
  auto copy = [&] {
    uint64_t last = Copy(*stream, CopyShape::Linear(EngineBytes(here), EngineBytes(there, 1), 1000),
                         DeviceSide(here, 0), DeviceSide(there, 1));
    engine_->Wait(*stream, last);
    return engine_->TakeFailure(*stream, last).code;
  };
  EXPECT_EQ(copy(), 507899);
  memory_->books().EnablePeer(1, 0);
  EXPECT_EQ(copy(), 507899) << "the other direction does not help";
  memory_->books().EnablePeer(0, 1);
  EXPECT_EQ(copy(), 0);
  memory_->books().DisablePeer(0, 1);
  EXPECT_EQ(copy(), 507899);
  DestroyStream(stream);
  FreeBlock(here, 0);
  FreeBlock(there, 1);
}

TEST_P(EngineTest, BlocksOfQueuedTasksAreFoundAndKept) {
  gate().Close();
  Stream* stream = NewStream();
  Event* event = NewEvent();
  memory::Allocation *block = NewBlock(1000), *other = NewBlock(1000);
  Record(gate_stream(), *event);
  WaitForLatest(*stream, *event);
  Fill(*stream, other, 0, 1000, 1);
  std::vector<uint8_t> target(1000);
  Copy(*stream, CopyShape::Linear(target.data(), EngineBytes(block), 1000), {}, DeviceSide(block));
  Op found;
  EXPECT_TRUE(engine_->FindTask(*stream, block, &found));
  EXPECT_EQ(found.kind, OpKind::kCopy);
  EXPECT_EQ(found.task, 2u);
  EXPECT_TRUE(engine_->FindTask(*stream, other, &found));
  EXPECT_EQ(found.kind, OpKind::kFill);
  memory::Allocation* third = NewBlock(10);
  EXPECT_FALSE(engine_->FindTask(*stream, third, &found));
  EXPECT_EQ(memory_->Find(0)->Free(block, Site{}, 0), memory::SlabHeap::FreeResult::kInUse);
  gate().Open();
  EXPECT_TRUE(engine_->Wait(*stream, stream->submitted()));
  EXPECT_FALSE(engine_->FindTask(*stream, other, &found));
  EXPECT_EQ(block->pins.load(), 0u);
  FreeBlock(other);
  FreeBlock(third);
  DestroyStream(stream);
  DestroyEvent(event);
}

TEST_P(EngineTest, StagedSourcesAreTheTasksOwn) {
  Stream* stream = NewStream();
  std::vector<uint8_t> target(500 * kKiB);
  for (uint64_t bytes : {uint64_t{10}, 500 * kKiB}) {
    auto* staged = static_cast<uint8_t*>(malloc(bytes));
    memset(staged, 6, bytes);
    uint64_t last = Copy(*stream, CopyShape::Linear(target.data(), staged, bytes), {}, {}, true);
    EXPECT_TRUE(engine_->Wait(*stream, last));
    EXPECT_EQ(target[bytes - 1], 6);
  }
  DestroyStream(stream);
}

TEST_P(EngineTest, EmptyCopiesAndFillsAreTasksThatMoveNothing) {
  Stream* stream = NewStream();
  memory::Allocation* block = NewBlock(100);
  uint8_t byte = 1;
  Fill(*stream, block, 0, 0, 1);
  Copy(*stream, CopyShape::Linear(EngineBytes(block), &byte, 0), DeviceSide(block), {});
  Copy(*stream, {EngineBytes(block), &byte, 16, 16, 0, 5}, DeviceSide(block), {});
  Copy(*stream, {EngineBytes(block), &byte, 16, 16, 8, 0}, DeviceSide(block), {});
  EXPECT_TRUE(engine_->Wait(*stream, stream->submitted()));
  EXPECT_FALSE(stream->failed());
  EXPECT_EQ(memory_->physical().used_bytes(), 0u);
  DestroyStream(stream);
  FreeBlock(block);
}

class NowTest : public EngineFixture {};

// SPEC 31 §0.5: ordered with nothing, on the calling thread.
TEST_F(NowTest, CopiesAndFillsAtOnceLandInTheCallOrChangeNothing) {
  Build(kModes[1], 2 * kMiB);
  memory::Allocation *block = NewBlock(1000), *large = NewBlock(5 * kMiB);
  std::vector<uint8_t> target(1000, 0xff), source = Pattern(1000, 3);
  CopyTask up{}, down{};
  down.shape = CopyShape::Linear(target.data(), EngineBytes(block), 1000);
  down.src = DeviceSide(block);
  EXPECT_TRUE(engine_->CopyNow(down));
  EXPECT_EQ(target, std::vector<uint8_t>(1000)) << "unwritten bytes are zero";
  up.shape = CopyShape::Linear(EngineBytes(block) + 10, source.data(), 900);
  up.dst = DeviceSide(block);
  EXPECT_TRUE(engine_->CopyNow(up));
  EXPECT_TRUE(engine_->FillNow({EngineBytes(block) + 905, 5, DeviceSide(block), 0x77}));
  EXPECT_FALSE(engine_->FillNow({EngineBytes(large), 5 * kMiB, DeviceSide(large), 1}))
      << "more than the budget";
  EXPECT_TRUE(engine_->CopyNow(down));
  EXPECT_TRUE(target[9] == 0 && target[910] == 0 && target[905] == 0x77 && target[909] == 0x77);
  EXPECT_EQ(memcmp(&target[10], source.data(), 895), 0);
  EXPECT_EQ(block->pins.load(), 0u);
  FreeBlock(block);
  FreeBlock(large);
}

TEST_P(EngineTest, AMillionQueuedTasksStaySmallAndInOrder) {
  constexpr uint32_t kTasks = kSanitized ? 100'000 : 1'000'000;
  gate().Close();
  Stream* stream = NewStream();
  Event* event = NewEvent();
  Record(gate_stream(), *event);
  WaitForLatest(*stream, *event);
  // Each copies the byte before it, so the last one is right only if all ran in order.
  std::vector<uint8_t> bytes(kTasks + 1);
  bytes[0] = 0x5a;
  size_t before = mallinfo2().uordblks;
  for (uint32_t i = 0; i < kTasks; ++i) HostCopy(*stream, &bytes[i + 1], &bytes[i], 1);
  size_t taken = mallinfo2().uordblks - before;
  if (!kSanitized) {
    EXPECT_LE(taken, 160 * kMiB);
  }
  EXPECT_EQ(bytes[1], 0);
  EXPECT_EQ(stream->submitted() - stream->done(), kTasks + 1);
  gate().Open();
  EXPECT_TRUE(engine_->Wait(*stream, stream->submitted()));
  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0x5a; }));
  DestroyStream(stream);
  DestroyEvent(event);
}

}  // namespace
}  // namespace belay::engine
