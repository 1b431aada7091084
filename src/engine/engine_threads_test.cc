// Several host threads on one engine.
#include <algorithm>
#include <random>

#include "engine/engine_test.h"
#include "os/thread.h"

namespace belay::engine {
namespace {

constexpr int64_t kLong = 60'000'000'000;

class ThreadsTest : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(, ThreadsTest, testing::ValuesIn(kModes), ModeName);

template <class Work>
void RunThreads(int count, Work work) {
  std::vector<std::thread> threads;
  for (int i = 1; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  work(0);
  for (std::thread& thread : threads) thread.join();
}

TEST_P(ThreadsTest, TwoStreamsEachWithItsOwnThread) {
  Stream* streams[2] = {NewStream(0), NewStream(1)};
  memory::Allocation* blocks[2] = {NewBlock(400 * kKiB, 0), NewBlock(400 * kKiB, 1)};
  RunThreads(2, [&](int i) {
    std::vector<uint8_t> from(400 * kKiB), to(400 * kKiB);
    for (int round = 0; round < 40; ++round) {
      std::fill(from.begin(), from.end(), static_cast<uint8_t>(round * 2 + i));
      uint64_t bytes = round % 2 == 0 ? 400 * kKiB : 1000;
      OpSide side = DeviceSide(blocks[i], i);
      uint8_t* device = EngineBytes(blocks[i], i);
      Copy(*streams[i], CopyShape::Linear(device, from.data(), bytes), side, {});
      uint64_t last = Copy(*streams[i], CopyShape::Linear(to.data(), device, bytes), {}, side);
      ASSERT_TRUE(engine_->Wait(*streams[i], last));
      ASSERT_EQ(memcmp(to.data(), from.data(), bytes), 0);
    }
  });
  for (int i : {0, 1}) {
    DestroyStream(streams[i]);
    FreeBlock(blocks[i], i);
  }
}

TEST_P(ThreadsTest, OneStreamForAllThreads) {
  Stream* stream = NewStream();
  constexpr int kEach = 400;
  uint32_t counter = 0, last_seen = 0;
  std::vector<uint32_t> copies(3 * kEach);
  // Tasks of a stream exclude each other: each moves the counter on by way of two plain copies.
  RunThreads(3, [&](int i) {
    uint64_t before = 0;
    for (int k = 0; k < kEach; ++k) {
      auto* target = reinterpret_cast<uint8_t*>(&copies[static_cast<size_t>(i * kEach + k)]);
      uint64_t sequence = HostCopy(*stream, target, reinterpret_cast<uint8_t*>(&counter), sizeof counter);
      ASSERT_GT(sequence, before) << "numbers follow the order of submission";
      before = sequence;
      HostCopy(*stream, reinterpret_cast<uint8_t*>(&last_seen), target, sizeof counter);
      if (k % 50 == 0) {
        ASSERT_TRUE(engine_->Wait(*stream, sequence));
        ASSERT_GE(stream->done(), sequence);
      }
    }
  });
  EXPECT_TRUE(engine_->Wait(*stream, stream->submitted()));
  EXPECT_EQ(stream->done(), 2u * 3 * kEach);
  DestroyStream(stream);
}

TEST_P(ThreadsTest, ManyWaitForOneTaskAndOneRecord) {
  for (int round = 0; round < 10; ++round) {
    gate().Close();
    Stream* stream = NewStream();
    Event *held = NewEvent(), *event = NewEvent();
    Record(gate_stream(), *held);
    WaitForLatest(*stream, *held);
    std::vector<uint8_t> from(300 * kKiB, 4), to(300 * kKiB);
    uint64_t copied = HostCopy(*stream, to.data(), from.data(), from.size());
    Record(*stream, *event);
    std::atomic<int> started{0};
    RunThreads(5, [&](int i) {
      if (i == 0) {
        while (started.load() < 4) sched_yield();
        return gate().Open();
      }
      EventRecord* record = event->Latest();
      started.fetch_add(1);
      if (i % 2 == 0) {
        EXPECT_TRUE(engine_->WaitRecord(*record, os::MonotonicNs() + kLong));
      } else {
        EXPECT_TRUE(engine_->Wait(*stream, copied, os::MonotonicNs() + kLong));
      }
      record->Drop();
      EXPECT_EQ(to[300 * kKiB - 1], 4);
    });
    DestroyStream(stream);
    DestroyEvent(held);
    DestroyEvent(event);
  }
}

// One thread waits for an early task; another runs the stream, which then parks on something that only the
// first one will bring about.
TEST_P(ThreadsTest, AWaitEndsWithItsTaskEvenIfTheStreamParksAfterIt) {
  std::vector<uint8_t> from(300 * kKiB, 4), to(300 * kKiB);
  for (int round = 0; round < 40; ++round) {
    gate().Close();
    Stream* stream = NewStream();
    Event* held = NewEvent();
    Record(gate_stream(), *held);
    uint64_t early = HostCopy(*stream, to.data(), from.data(), from.size());
    WaitForLatest(*stream, *held);
    uint64_t last = stream->submitted();
    RunThreads(2, [&](int i) {
      if (i == 0) {
        EXPECT_TRUE(engine_->Wait(*stream, early, os::MonotonicNs() + kLong));
        gate().Open();
      } else {
        EXPECT_TRUE(engine_->Wait(*stream, last, os::MonotonicNs() + kLong));
      }
    });
    DestroyStream(stream);
    DestroyEvent(held);
  }
}

// A device synchronise waits for the streams it found, while their owner finishes and destroys them.
TEST_P(ThreadsTest, AWaitSurvivesTheEndOfItsStream) {
  std::vector<uint8_t> from(300 * kKiB, 4), to(300 * kKiB);
  for (int round = 0; round < 100; ++round) {
    Stream* stream = NewStream();
    uint64_t last = HostCopy(*stream, to.data(), from.data(), from.size());
    std::atomic<bool> waiting{false};
    std::thread waiter([&] {
      waiting.store(true);
      EXPECT_TRUE(engine_->Wait(*stream, last, os::MonotonicNs() + kLong));
    });
    while (!waiting.load()) sched_yield();
    DestroyStream(stream);
    waiter.join();
  }
}

TEST_P(ThreadsTest, ThreadsRecordWaitAndDestroyOnTheirOwn) {
  Event* shared = NewEvent();
  Stream* publisher = NewStream();
  Record(*publisher, *shared);
  RunThreads(3, [&](int i) {
    std::mt19937 random(static_cast<uint32_t>(i));
    std::vector<uint8_t> from(300 * kKiB), to(300 * kKiB);
    for (int round = 0; round < 60; ++round) {
      Stream *first = engine_->CreateStream(0, 0), *second = engine_->CreateStream(0, 1);
      Event* event = NewEvent();
      WaitForLatest(*first, *shared);
      HostCopy(*first, to.data(), from.data(), random() % 2 == 0 ? from.size() : 64);
      Record(*first, *event);
      WaitForLatest(*second, *event);
      if (random() % 2 == 0) Record(*second, *shared);
      if (random() % 2 == 0) {
        ASSERT_TRUE(engine_->Wait(*second, second->submitted()));
      }
      engine_->DestroyStream(second);
      engine_->DestroyStream(first);
      DestroyEvent(event);
    }
  });
  DestroyStream(publisher);
  DestroyEvent(shared);
}

TEST_P(ThreadsTest, AFailureGoesToOneThreadOnly) {
  Build(GetParam(), 0);
  Stream* stream = NewStream();
  memory::Allocation* block = NewBlock(100);
  for (int round = 0; round < 100; ++round) {
    uint64_t last = Fill(*stream, block, 0, 100, 1);
    std::atomic<int> reports{0};
    RunThreads(2, [&](int) {
      ASSERT_TRUE(engine_->Wait(*stream, last));
      reports += engine_->TakeFailure(*stream, last).code == 207018;
    });
    ASSERT_EQ(reports.load(), 1);
  }
  DestroyStream(stream);
  FreeBlock(block);
}

}  // namespace
}  // namespace belay::engine
