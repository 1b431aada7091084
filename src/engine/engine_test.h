// For tests of the engine: a small node with an engine on it, tasks made by hand, and a gate that holds a
// stream.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.h"
#include "os/census_test.h"
#include "os/futex.h"

namespace belay::engine {

constexpr uint64_t kKiB = uint64_t{1} << 10, kMiB = uint64_t{1} << 20;

// How an engine runs: every test of a parameterised fixture passes with each.
struct Mode {
  const char* name;
  Policy policy;
  int workers;
};
inline const Mode kModes[] = {
    {"Async0", Policy::Async(), 0},   {"Async1", Policy::Async(), 1},   {"Async2", Policy::Async(), 2},
    {"Eager0", Policy::Eager(), 0},   {"Eager1", Policy::Eager(), 1},   {"Eager2", Policy::Eager(), 2},
    {"OnWait0", Policy::OnWait(), 0}, {"OnWait1", Policy::OnWait(), 1}, {"OnWait2", Policy::OnWait(), 2},
};
inline std::string ModeName(const testing::TestParamInfo<Mode>& test) {
  return test.param.name;
}
inline void PrintTo(const Mode& mode, std::ostream* out) {
  *out << mode.name;
}

// Holds the stream that a task was given to: that task waits inside `host RAM is used up, take idle chunks
// back` until the gate opens, then fails with 207018. It runs on a thread of the gate, so no worker is taken.
class Gate final : public memory::PhysicalMemory::Source {
 public:
  // `block` is larger than the whole budget.
  Gate(Engine& engine, Stream& stream, memory::DeviceMemory& memory, memory::Allocation& block)
      : engine_(engine), stream_(stream), memory_(memory), block_(block) {
    engine_.memory().physical().AddSource(this);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { EXPECT_FALSE(holder_.joinable()); }  // Open() was called

  void Close() {
    closed_.store(1);
    holder_ = std::thread([this] {
      Op op;
      op.kind = OpKind::kFill;
      op.fill = {memory_.EngineStart(block_), block_.size, {&memory_, &block_}, 1};
      // Says the submitter: small enough to run here, too large to run under the stream's lock.
      uint64_t sequence = engine_.Submit(stream_, op, Policy::kSmall - 1);
      engine_.Wait(stream_, sequence);
    });
    while (held_.load() == 0) os::FutexWait(held_, 0);
  }

  void Open() {
    closed_.store(0);
    os::FutexWakeAll(closed_);
    holder_.join();
    held_.store(0);
    EXPECT_EQ(engine_.TakeFailure(stream_, ~uint64_t{0}).code, 207018);
  }

  void GiveIdleChunksBack() override {
    if (closed_.load() == 0) return;
    held_.store(1);
    os::FutexWakeAll(held_);
    while (closed_.load() != 0) os::FutexWait(closed_, 1);
  }

 private:
  Engine& engine_;
  Stream& stream_;
  memory::DeviceMemory& memory_;
  memory::Allocation& block_;
  std::thread holder_;
  std::atomic<uint32_t> closed_{0}, held_{0};
};

// A node of three devices. At the end: no stream has a task, no block lives or is pinned, no thread or
// descriptor is left.
class EngineFixture : public os::LeavesNothing {
 protected:
  static constexpr int kDevices = 3;
  static constexpr uint64_t kBudget = 64 * kMiB;

  void Build(const Mode& mode, uint64_t budget = kBudget, bool peer_lenient = true) {
    engine_.reset();
    memory::NodeMemory::Config config;
    config.limits.devices = kDevices;
    config.limits.capacity = 256 * kMiB;
    config.host_budget_bytes = budget;
    config.rest_freed = true;
    memory_ = memory::NodeMemory::Create(config);
    ASSERT_NE(memory_, nullptr);
    for (int device = 0; device < kDevices; ++device) memory_->Open(device);
    Engine::Config engine;
    engine.policy = mode.policy;
    engine.workers = mode.workers;
    engine.peer_lenient = peer_lenient;
    engine_ = std::make_unique<Engine>(engine, *memory_);
  }

  void TearDown() override {
    if (engine_ != nullptr) {
      if (gate_ != nullptr) {
        DestroyStream(gate_stream_);
        FreeBlock(gate_block_);
      }
      EXPECT_TRUE(streams_.empty()) << streams_.size() << " streams are left";
      int live = 0;
      auto count = [&live](memory::Allocation&) { ++live; };
      for (int device = 0; device < kDevices; ++device) {
        memory_->Find(device)->ForEachLive(count);
        EXPECT_EQ(memory_->books().used_bytes(device), 0u);
      }
      memory_->host().ForEachLive(count);
      EXPECT_EQ(live, 0) << "blocks are left";
    }
    engine_.reset();
    gate_.reset();
    memory_.reset();
    os::LeavesNothing::TearDown();
  }

  Stream* NewStream(int device = 0) {
    Stream* stream = engine_->CreateStream(device, static_cast<int32_t>(streams_.size()));
    streams_.push_back(stream);
    return stream;
  }
  void DestroyStream(Stream* stream) {
    engine_->DestroyStream(stream);
    EXPECT_TRUE(stream->Idle());
    std::erase(streams_, stream);
  }

  memory::Allocation* NewBlock(uint64_t size, int device = 0) {
    memory::DeviceMemory::Request request;
    request.size = size;
    memory::DeviceMemory::Shortage shortage;
    memory::Allocation* block = memory_->Find(device)->Allocate(request, &shortage);
    EXPECT_NE(block, nullptr);
    return block;
  }
  void FreeBlock(memory::Allocation* block, int device = 0) {
    EXPECT_EQ(block->pins.load(), 0u);
    EXPECT_EQ(memory_->Find(device)->Free(block, Site{}, 0), memory::SlabHeap::FreeResult::kFreed);
  }
  uint8_t* EngineBytes(memory::Allocation* block, int device = 0) {
    return memory_->Find(device)->EngineStart(*block);
  }
  OpSide DeviceSide(memory::Allocation* block, int device = 0) { return {memory_->Find(device), block}; }

  uint64_t Fill(Stream& stream, memory::Allocation* block, uint64_t at, uint64_t bytes, uint8_t value) {
    Op op;
    op.kind = OpKind::kFill;
    op.fill = {EngineBytes(block, stream.device) + at, bytes, DeviceSide(block, stream.device), value};
    return engine_->Submit(stream, op, bytes);
  }
  uint64_t Copy(Stream& stream, const CopyShape& shape, OpSide dst, OpSide src, bool owns_source = false) {
    Op op;
    op.kind = OpKind::kCopy;
    op.owns_source = owns_source;
    op.copy.shape = shape;
    op.copy.dst = dst;
    op.copy.src = src;
    op.copy.executor = static_cast<int16_t>(stream.device);
    return engine_->Submit(stream, op, shape.Bytes());
  }
  // From one plain host buffer to another.
  uint64_t HostCopy(Stream& stream, uint8_t* dst, const uint8_t* src, uint64_t bytes) {
    return Copy(stream, CopyShape::Linear(dst, src, bytes), {}, {});
  }

  static Event* NewEvent() { return new Event(Event::Family::kPlain, 0, 0); }
  static void DestroyEvent(Event* event) {
    EXPECT_EQ(event->pending_waits.load(), 0u);
    event->SetLatest(nullptr);
    event->Drop();
  }
  void Record(Stream& stream, Event& event) {
    Op op;
    engine_->SubmitRecord(stream, event, op);
  }
  void WaitFor(Stream& stream, EventRecord& record) {
    Op op;
    engine_->SubmitWait(stream, record, op);
  }
  void WaitForLatest(Stream& stream, Event& event) {
    EventRecord* record = event.Latest();
    ASSERT_NE(record, nullptr);
    WaitFor(stream, *record);
    record->Drop();
  }

  // The gate of this fixture; its stream is made at the first call.
  Gate& gate() {
    if (gate_ == nullptr) {
      gate_stream_ = NewStream(0);
      gate_block_ = NewBlock(memory_->physical().budget_bytes() + 16 * kMiB);
      gate_ = std::make_unique<Gate>(*engine_, *gate_stream_, *memory_->Find(0), *gate_block_);
    }
    return *gate_;
  }
  Stream& gate_stream() { return *gate_stream_; }

  std::unique_ptr<memory::NodeMemory> memory_;
  std::unique_ptr<Engine> engine_;

 private:
  std::vector<Stream*> streams_;
  std::unique_ptr<Gate> gate_;
  Stream* gate_stream_ = nullptr;
  memory::Allocation* gate_block_ = nullptr;
};

class EngineTest : public EngineFixture, public testing::WithParamInterface<Mode> {
 protected:
  void SetUp() override { Build(GetParam()); }
  bool eager() const { return GetParam().policy.delivery() == Policy::Delivery::kCaller; }
};

}  // namespace belay::engine
