#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "engine/engine.h"
#include "os/census_test.h"

namespace belay::engine {
namespace {
using memory::Allocation;
using memory::DeviceMemory;
using memory::NodeMemory;

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;
constexpr uint8_t kPoison = DeviceMemory::kPoison;

// Two devices of 1 GiB on a host that holds little, where unwritten bytes are poison.
class UnwrittenTest : public os::LeavesNothing {
 protected:
  UnwrittenTest() { Build(true); }

  void Build(bool poison) {
    engine_.reset();
    node_.reset();
    NodeMemory::Config config;
    config.limits.devices = 2;
    config.limits.capacity = kGiB;
    config.limits.streams = 4;
    config.host_budget_bytes = 64 * kMiB;
    config.poison = poison;
    node_ = NodeMemory::Create(config);
    ASSERT_NE(node_, nullptr);
    node_->Open(0);
    node_->Open(1);
    engine_ = std::make_unique<Engine>(Engine::Config{.workers = 0}, *node_);
  }

  OpSide Allocate(int device, uint64_t bytes) {
    DeviceMemory::Request request;
    request.size = bytes;
    DeviceMemory::Shortage shortage;
    DeviceMemory& memory = *node_->Find(device);
    return {&memory, memory.Allocate(request, &shortage)};
  }
  static uint8_t* Start(const OpSide& side) { return side.memory->EngineStart(*side.block); }
  bool Fill(const OpSide& side, uint64_t at, uint64_t bytes, uint8_t value) {
    return engine_->FillNow({Start(side) + at, bytes, side, value});
  }
  std::vector<uint8_t> Fetch(const OpSide& side, uint64_t at, uint64_t bytes) {
    std::vector<uint8_t> got(bytes, 0xEE);
    CopyTask copy{CopyShape::Linear(got.data(), Start(side) + at, bytes), {}, side, 0};
    EXPECT_TRUE(engine_->CopyNow(copy));
    return got;
  }
  uint64_t used() { return node_->physical().used_bytes(); }

  std::unique_ptr<NodeMemory> node_;
  std::unique_ptr<Engine> engine_;
};

std::vector<uint8_t> Bytes(std::initializer_list<std::pair<size_t, uint8_t>> runs) {
  std::vector<uint8_t> bytes;
  for (auto [count, value] : runs) bytes.insert(bytes.end(), count, value);
  return bytes;
}

TEST_F(UnwrittenTest, ReadsAsPoisonAndCommitsNothing) {
  OpSide block = Allocate(0, 512 * kMiB);
  EXPECT_EQ(Fetch(block, 0, 100), Bytes({{100, kPoison}}));
  EXPECT_EQ(Fetch(block, 300 * kMiB, 8 * kMiB), Bytes({{8 * kMiB, kPoison}}));
  EXPECT_EQ(used(), 0u);
  ASSERT_TRUE(Fill(block, 10, 20, 'a'));
  EXPECT_EQ(Fetch(block, 0, 100), Bytes({{10, kPoison}, {20, 'a'}, {70, kPoison}}));
  EXPECT_EQ(used(), 2 * kMiB);
}

TEST_F(UnwrittenTest, WithoutPoisonReadsAsZero) {
  Build(false);
  OpSide block = Allocate(0, kMiB);
  ASSERT_TRUE(Fill(block, 10, 20, 'a'));
  EXPECT_EQ(Fetch(block, 0, 100), Bytes({{10, 0}, {20, 'a'}, {70, 0}}));
}

TEST_F(UnwrittenTest, IsPoisonAgainInTheNextBlock) {
  for (int round = 0; round < 3; ++round) {
    OpSide block = Allocate(0, kMiB);
    EXPECT_EQ(Fetch(block, 0, kMiB), Bytes({{kMiB, kPoison}})) << round;
    ASSERT_TRUE(Fill(block, 0, kMiB, 'x'));
    EXPECT_EQ(Fetch(block, 0, kMiB), Bytes({{kMiB, 'x'}})) << round;
    block.memory->Free(block.block, Site{}, 0);
  }
}

TEST_F(UnwrittenTest, CopiesOfItCountAsWritten) {
  OpSide from = Allocate(0, kMiB), to = Allocate(1, kMiB);
  ASSERT_TRUE(Fill(from, 4, 4, 'a'));
  CopyTask copy{CopyShape::Linear(Start(to) + 100, Start(from), 12), to, from, 0};
  ASSERT_TRUE(engine_->CopyNow(copy));
  EXPECT_TRUE(to.memory->AllWritten(*to.block, 100, 12));
  EXPECT_FALSE(to.memory->AllWritten(*to.block, 99, 12));
  EXPECT_FALSE(from.memory->AllWritten(*from.block, 0, 12));
  EXPECT_EQ(Fetch(to, 99, 14), Bytes({{5, kPoison}, {4, 'a'}, {5, kPoison}}));
}

TEST_F(UnwrittenTest, BytesBetweenRowsStayUnwritten) {
  OpSide block = Allocate(0, kMiB);
  std::vector<uint8_t> host(64, 'h');
  CopyTask in{*CopyShape::Rows(Start(block), 8, host.data(), 4, 4, 3), block, {}, 0};
  ASSERT_TRUE(engine_->CopyNow(in));
  EXPECT_EQ(Fetch(block, 0, 24),
            Bytes({{4, 'h'}, {4, kPoison}, {4, 'h'}, {4, kPoison}, {4, 'h'}, {4, kPoison}}));
  std::vector<uint8_t> got(18, '-');
  CopyTask out{*CopyShape::Rows(got.data(), 6, Start(block) + 2, 8, 4, 3), {}, block, 0};
  ASSERT_TRUE(engine_->CopyNow(out));
  EXPECT_EQ(got, Bytes({{2, 'h'},
                        {2, kPoison},
                        {2, '-'},
                        {2, 'h'},
                        {2, kPoison},
                        {2, '-'},
                        {2, 'h'},
                        {2, kPoison},
                        {2, '-'}}));
}

TEST_F(UnwrittenTest, WhatDoesNotFitInTheHostChangesNothing) {
  OpSide block = Allocate(0, 512 * kMiB);
  EXPECT_FALSE(Fill(block, 0, 100 * kMiB, 'a'));
  EXPECT_FALSE(block.memory->AllWritten(*block.block, 0, 1));
  EXPECT_EQ(Fetch(block, 0, 8), Bytes({{8, kPoison}}));
}

TEST_F(UnwrittenTest, WordsAreComparedWithPoison) {
  OpSide block = Allocate(0, kMiB);
  constexpr uint64_t kWord = 0xA5A5A5A5A5A5A5A5u;
  EXPECT_EQ(block.memory->Poisoned(*block.block, 8, 0), kWord);
  ASSERT_TRUE(Fill(block, 8, 4, 0x11));
  EXPECT_EQ(block.memory->Poisoned(*block.block, 8, 0x11111111), (kWord >> 32 << 32) | 0x11111111);
}

// Against an array of bytes, each poison until it is written.
TEST_F(UnwrittenTest, RandomCopiesDoWhatAnArraySays) {
  constexpr size_t kBytes = 512;
  std::mt19937 random(20261201);
  auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  for (int round = 0; round < 60; ++round) {
    struct Model {
      OpSide side;
      std::vector<uint8_t> bytes;
      uint8_t* start;
    };
    std::vector<uint8_t> host(kBytes);
    std::vector<Model> models;
    for (int device : {0, 0, 1}) {
      OpSide side = Allocate(device, kBytes);
      models.push_back({side, std::vector<uint8_t>(kBytes, kPoison), Start(side)});
    }
    for (uint8_t& byte : host) byte = static_cast<uint8_t>(random());
    models.push_back({{}, host, host.data()});

    for (int step = 0; step < 60; ++step) {
      Model& to = models[below(models.size())];
      Model& from = models[below(models.size())];
      bool of_host = to.side.memory == nullptr || from.side.memory == nullptr;
      bool planes = of_host && &to != &from && below(3) == 0;
      if (!planes && to.side.memory != nullptr && below(4) == 0) {
        size_t at = below(kBytes), count = 1 + below(std::min<size_t>(kBytes - at, 40));
        auto value = static_cast<uint8_t>(random());
        ASSERT_TRUE(Fill(to.side, at, count, value));
        std::fill_n(to.bytes.begin() + static_cast<ptrdiff_t>(at), count, value);
        continue;
      }
      size_t width = 1 + below(planes ? 12 : 90), height = planes ? 1 + below(6) : 1;
      size_t to_pitch = width + below(planes ? 9 : 1), from_pitch = width + below(planes ? 9 : 1);
      CopyShape shape = *CopyShape::Rows(nullptr, to_pitch, nullptr, from_pitch, width, height);
      size_t to_at = below(kBytes - shape.DstExtent() + 1), from_at = below(kBytes - shape.SrcExtent() + 1);
      shape.dst = to.start + to_at;
      shape.src = from.start + from_at;
      ASSERT_TRUE(engine_->CopyNow({shape, to.side, from.side, 0}));
      std::vector<uint8_t> read = from.bytes;
      for (size_t row = 0; row < height; ++row) {
        for (size_t i = 0; i < width; ++i) {
          to.bytes[to_at + row * to_pitch + i] = read[from_at + row * from_pitch + i];
        }
      }
    }
    for (Model& model : models) {
      std::vector<uint8_t> got = model.side.memory == nullptr ? host : Fetch(model.side, 0, kBytes);
      ASSERT_EQ(got, model.bytes) << "round " << round;
      if (model.side.memory != nullptr) model.side.memory->Free(model.side.block, Site{}, 0);
    }
  }
}

}  // namespace
}  // namespace belay::engine
