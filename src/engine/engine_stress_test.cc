// Host threads that mix everything for BELAY_STRESS_SECONDS. Run it under the thread and address sanitizers.
#include <cstdlib>
#include <mutex>
#include <optional>
#include <random>

#include "engine/engine_test.h"
#include "os/thread.h"

namespace belay::engine {
namespace {

constexpr int kThreads = 4;
constexpr size_t kMostItems = 12;

// A block that one thread fills and another checks: ordered by an event record only, never by the host.
struct Item {
  memory::Allocation* block;
  int device;
  uint64_t bytes;
  uint8_t value;
  EventRecord* record;
};

class SlowEngineStressTest : public EngineTest {
 protected:
  void SetUp() override {
    const char* seconds = getenv("BELAY_STRESS_SECONDS");
    if (seconds == nullptr) GTEST_SKIP() << "slow; set BELAY_STRESS_SECONDS";
    Build(GetParam(), 192 * kMiB);
    int64_t each = static_cast<int64_t>(atof(seconds) * 1e9 / static_cast<double>(std::size(kModes)));
    end_ns_ = os::MonotonicNs() + each;
  }

  std::optional<Item> TakeItem(std::mt19937& random) {
    std::lock_guard lock(mutex_);
    if (items_.empty()) return std::nullopt;
    std::swap(items_[random() % items_.size()], items_.back());
    Item item = items_.back();
    items_.pop_back();
    return item;
  }

  void Produce(Stream& stream, Event& event, std::mt19937& random) {
    {
      std::lock_guard lock(mutex_);
      if (items_.size() >= kMostItems) return;
    }
    Item item;
    item.device = stream.device;
    item.bytes = random() % 4 == 0 ? 300 * kKiB + random() % (700 * kKiB) : 1 + random() % 5000;
    item.value = static_cast<uint8_t>(random());
    item.block = NewBlock(item.bytes, item.device);
    for (int pass = 0; pass < 3; ++pass) {  // only the last one may be seen
      Fill(stream, item.block, 0, item.bytes, static_cast<uint8_t>(item.value + 2 - pass));
    }
    Record(stream, event);
    item.record = event.Latest();
    std::lock_guard lock(mutex_);
    items_.push_back(item);
  }

  void Consume(Stream& stream, std::mt19937& random) {
    std::optional<Item> item = TakeItem(random);
    if (!item) return;
    std::vector<uint8_t> target(item->bytes);
    if (random() % 3 == 0) {
      ASSERT_TRUE(engine_->WaitRecord(*item->record));
    } else {
      WaitFor(stream, *item->record);
    }
    uint64_t last =
        Copy(stream, CopyShape::Linear(target.data(), EngineBytes(item->block, item->device), item->bytes),
             {}, DeviceSide(item->block, item->device));
    bool early = random() % 2 == 0;
    if (early) memory_->Find(item->device)->Free(item->block, Site{}, 0);
    if (random() % 4 == 0) {
      while (!engine_->Query(stream)) {
      }
    } else {
      while (
          !engine_->Wait(stream, last, random() % 2 == 0 ? Engine::kNoDeadline : os::MonotonicNs() + 1000)) {
      }
    }
    for (uint8_t byte : target) ASSERT_EQ(byte, item->value);
    ASSERT_EQ(engine_->TakeFailure(stream, last).code, 0);
    if (!early) memory_->Find(item->device)->Free(item->block, Site{}, 0);
    item->record->Drop();
  }

  void Work(int index) {
    std::mt19937 random(static_cast<uint32_t>(index) * 77 + 1);
    std::vector<Stream*> streams(3);
    for (Stream*& stream : streams) stream = engine_->CreateStream(static_cast<int>(random() % kDevices), 0);
    Event* event = NewEvent();
    while (os::MonotonicNs() < end_ns_ && !HasFailure()) {
      Stream*& stream = streams[random() % streams.size()];
      switch (random() % 10) {
        case 0:
          engine_->DestroyStream(stream);
          stream = engine_->CreateStream(static_cast<int>(random() % kDevices), 0);
          break;
        case 1:
          DropEvent(event);
          event = NewEvent();
          break;
        case 2:
          Record(*shared_stream_, *shared_event_);
          break;
        case 3:
          WaitForLatest(*stream, *shared_event_);
          break;
        case 4:
        case 5:
        case 6:
          Produce(*stream, *event, random);
          break;
        default:
          Consume(*stream, random);
      }
    }
    for (Stream* stream : streams) engine_->DestroyStream(stream);
    DropEvent(event);
  }

  // Waits for it may still be pending elsewhere.
  static void DropEvent(Event* event) {
    event->SetLatest(nullptr);
    event->Drop();
  }

  int64_t end_ns_ = 0;
  Stream* shared_stream_ = nullptr;
  Event* shared_event_ = nullptr;
  std::mutex mutex_;
  std::vector<Item> items_;
};

INSTANTIATE_TEST_SUITE_P(, SlowEngineStressTest, testing::ValuesIn(kModes), ModeName);

TEST_P(SlowEngineStressTest, ThreadsPassWorkOnByEvents) {
  shared_stream_ = NewStream();
  shared_event_ = NewEvent();
  Record(*shared_stream_, *shared_event_);
  std::vector<std::thread> threads;
  for (int i = 1; i < kThreads; ++i) threads.emplace_back([this, i] { Work(i); });
  Work(0);
  for (std::thread& thread : threads) thread.join();
  std::mt19937 random(1);
  Stream* last = NewStream();
  while (!items_.empty()) Consume(*last, random);
  DestroyStream(last);
  DestroyStream(shared_stream_);
  DestroyEvent(shared_event_);
}

}  // namespace
}  // namespace belay::engine
