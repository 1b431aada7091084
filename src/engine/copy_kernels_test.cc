#include "engine/copy_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace belay::engine {
namespace {

constexpr CopyLoop kAllLoops[] = {CopyLoop::kCached, CopyLoop::kStream, CopyLoop::kInterleave};

// Exact heap blocks, so that a sanitizer sees the first byte outside; `skew` moves the start off its
// alignment.
class Buffer {
 public:
  Buffer(size_t bytes, size_t skew, uint32_t seed)
      : block_(new uint8_t[bytes + skew]), skew_(skew), bytes_(bytes) {
    uint64_t word = seed * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i < bytes + skew; i += sizeof word) {
      word = word * 6364136223846793005u + 1442695040888963407u;
      uint64_t mixed = word ^ word >> 33;
      memcpy(&block_[i], &mixed, std::min(sizeof word, bytes + skew - i));
    }
  }
  uint8_t* data() { return block_.get() + skew_; }
  std::vector<uint8_t> Snapshot() const { return {block_.get(), block_.get() + skew_ + bytes_}; }
  size_t skew() const { return skew_; }

 private:
  std::unique_ptr<uint8_t[]> block_;
  size_t skew_, bytes_;
};

// The bytes of the destination block after the copy, by the definition of SPEC 31 §2.2.
std::vector<uint8_t> Expected(const Buffer& dst_block, const Buffer& src_block, const CopyShape& s) {
  std::vector<uint8_t> dst = dst_block.Snapshot(), src = src_block.Snapshot();
  if (s.width == 0) return dst;
  for (size_t r = 0; r < s.height; ++r) {
    memcpy(&dst[dst_block.skew() + r * s.dst_pitch], &src[src_block.skew() + r * s.src_pitch], s.width);
  }
  return dst;
}

struct Case {
  size_t width, height, dst_gap, src_gap, dst_skew, src_skew;
};

template <class Copy>
::testing::AssertionResult CopiesExactly(const Case& c, Copy copy) {
  auto extent = [&](size_t gap) { return *CopyShape::Extent(c.width + gap, c.width, c.height); };
  Buffer dst(extent(c.dst_gap), c.dst_skew, 1), src(extent(c.src_gap), c.src_skew, 2);
  auto shape =
      CopyShape::Rows(dst.data(), c.width + c.dst_gap, src.data(), c.width + c.src_gap, c.width, c.height);
  std::vector<uint8_t> expected = Expected(dst, src, *shape);
  copy(*shape);
  if (dst.Snapshot() == expected) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "width " << c.width << " height " << c.height << " gaps " << c.dst_gap << " " << c.src_gap
         << " skews " << c.dst_skew << " " << c.src_skew;
}

CopyLimits SmallLimits() {
  CopyLimits limits;
  limits.big_copy = 64 * 1024;
  limits.piece = 16 * 1024;
  return limits;
}

TEST(CopyShapeTest, ExtentsLeaveOutTheLastGap) {
  uint8_t bytes[64] = {};
  auto shape = CopyShape::Rows(bytes, 16, bytes, 8, 5, 3);
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->Bytes(), 15u);
  EXPECT_EQ(shape->DstExtent(), 37u);
  EXPECT_EQ(shape->SrcExtent(), 21u);
  EXPECT_FALSE(shape->linear());
  EXPECT_TRUE(CopyShape::Linear(bytes, bytes, 9).linear());
  EXPECT_EQ(CopyShape::Rows(bytes, 16, bytes, 8, 0, 3)->DstExtent(), 0u);
  EXPECT_EQ(CopyShape::Rows(bytes, 16, bytes, 8, 5, 0)->DstExtent(), 0u);
}

TEST(CopyShapeTest, RefusesShortPitchesAndOverflow) {
  constexpr size_t kHuge = ~size_t{0};
  EXPECT_FALSE(CopyShape::Rows(nullptr, 4, nullptr, 8, 5, 1).has_value());
  EXPECT_FALSE(CopyShape::Rows(nullptr, 8, nullptr, 4, 5, 1).has_value());
  EXPECT_FALSE(CopyShape::Rows(nullptr, kHuge, nullptr, 8, 5, 3).has_value());
  EXPECT_FALSE(CopyShape::Rows(nullptr, kHuge - 3, nullptr, 8, 5, 2).has_value());
  EXPECT_TRUE(CopyShape::Rows(nullptr, kHuge - 5, nullptr, 8, 5, 2).has_value());
  EXPECT_TRUE(CopyShape::Rows(nullptr, kHuge, nullptr, kHuge, 5, 1).has_value());
}

TEST(CopyLoopsTest, LinearAtEveryAlignment) {
  for (CopyLoop loop : kAllLoops) {
    auto copy = [loop](const CopyShape& s) { CopyLinear(loop, s.dst, s.src, s.Bytes()); };
    for (size_t skew = 0; skew < 64; ++skew) {
      for (size_t bytes : {0, 1, 63, 64, 65, 4095, 16384, 16384 + 64, 40001}) {
        EXPECT_TRUE(CopiesExactly({bytes, 1, 0, 0, skew, (skew * 7) % 64}, copy));
      }
    }
  }
}

TEST(CopyLoopsTest, CachedRowsOfEveryWidth) {
  auto copy = [](const CopyShape& s) { CopyRows(CopyLoop::kCached, s); };
  for (size_t width = 1; width <= 140; ++width)
    EXPECT_TRUE(CopiesExactly({width, 7, 3, 1, width % 5, 0}, copy));
}

TEST(CopyLoopsTest, NonTemporalRowsOfManyWidths) {
  for (CopyLoop loop : {CopyLoop::kStream, CopyLoop::kInterleave}) {
    auto copy = [loop](const CopyShape& s) { CopyRows(loop, s); };
    for (size_t width : {16, 64, 80, 128, 1000, 1024, 4096, 4097, 9000}) {
      for (size_t height : {1, 2, 4, 5, 33, 150}) {
        size_t gap = 16 - width % 16;
        EXPECT_TRUE(CopiesExactly({width, height, gap, 5, 0, 3}, copy));
        EXPECT_TRUE(CopiesExactly({width, height, gap + 4096, 0, 0, 1}, copy));
      }
    }
  }
}

TEST(CopyKernelsTest, RandomShapesLeaveGapsAlone) {
  std::mt19937 random(7);
  CopyKernels kernels(SmallLimits());
  auto below = [&](size_t limit) { return random() % limit; };
  auto copy = [&](const CopyShape& s) { kernels.Copy(s, s.Bytes()); };
  for (int i = 0; i < 1500; ++i) {
    size_t width = below(4) == 0 ? below(9000) : below(300);
    size_t height = below(200'000 / (width + 1) + 1) % 700;
    size_t dst_gap = below(3) == 0 ? 0 : below(2) == 0 ? (16 - width % 16) % 16 + 16 * below(9) : below(90);
    size_t src_gap = below(3) == 0 ? 0 : below(90);
    ASSERT_TRUE(CopiesExactly({width, height, dst_gap, src_gap, below(2) * below(64), below(64)}, copy));
  }
}

TEST(CopyKernelsTest, SizesAroundEveryLimit) {
  CopyLimits limits = SmallLimits();
  CopyKernels kernels(limits);
  auto copy = [&](const CopyShape& s) { kernels.Copy(s, s.Bytes()); };
  for (size_t edge : {limits.piece, limits.big_copy, limits.big_copy + limits.piece, 2 * limits.big_copy}) {
    for (size_t bytes = edge - 2; bytes <= edge + 2; ++bytes) {
      EXPECT_TRUE(CopiesExactly({bytes, 1, 0, 0, 0, 0}, copy));
      EXPECT_TRUE(CopiesExactly({bytes, 1, 0, 0, 1, 17}, copy));
    }
    for (size_t width : {63, 64, 65}) {
      EXPECT_TRUE(CopiesExactly({width, edge / width, 16 - width % 16, 16, 0, 0}, copy));
      EXPECT_TRUE(CopiesExactly({width, edge / width + 1, 16 - width % 16, 16, 0, 0}, copy));
    }
  }
}

// Every stage of the trial, its verdict and the next trial move the right bytes.
TEST(CopyKernelsTest, StaysExactThroughTrials) {
  CopyKernels kernels(SmallLimits());
  auto copy = [&](const CopyShape& s) { kernels.Copy(s, s.Bytes()); };
  for (int i = 0; i < 120; ++i) {
    ASSERT_TRUE(CopiesExactly({65 * 1024 + 13, 1, 0, 0, 5, 0}, copy)) << i;
    ASSERT_TRUE(CopiesExactly({2048, 33, 64, 0, 0, 0}, copy)) << i;
  }
  CopyTuning tuning = kernels.tuning();
  if (!HasNonTemporalLoops()) return;
  EXPECT_TRUE(tuning.classes[0].tried);
  EXPECT_GT(tuning.classes[0].gain, 0);
  EXPECT_THAT(tuning.ToString(), ::testing::HasSubstr("copies below 16 MiB: "));
}

TEST(CopyKernelsTest, PartsMakeAWhole) {
  CopyKernels kernels(SmallLimits());
  auto copy = [&](const CopyShape& s) {
    for (size_t r = 0; r < s.height; r += 3) {
      kernels.Copy(s.RowRange(r, std::min<size_t>(3, s.height - r)).ColumnRange(0, 100), s.Bytes());
      kernels.Copy(s.RowRange(r, std::min<size_t>(3, s.height - r)).ColumnRange(100, s.width - 100),
                   s.Bytes());
    }
  };
  EXPECT_TRUE(CopiesExactly({30'000, 10, 16, 48, 0, 0}, copy));
}

TEST(CopyKernelsTest, OverlapIsAsIfThroughATemporary) {
  std::mt19937 random(3);
  CopyKernels kernels(SmallLimits());
  for (int i = 0; i < 400; ++i) {
    size_t width = 1 + random() % 300, height = 1 + random() % 400;
    size_t dst_pitch = width + random() % 40;
    size_t src_pitch = random() % 3 == 0 ? width + random() % 40 : dst_pitch;
    if (random() % 4 == 0) dst_pitch = src_pitch = width;
    size_t dst_at = random() % 2000, src_at = random() % 2000;
    size_t room = 2000 + std::max(dst_pitch, src_pitch) * height;
    Buffer block(room, 0, static_cast<uint32_t>(i));
    CopyShape s{block.data() + dst_at, block.data() + src_at, dst_pitch, src_pitch, width, height};
    std::vector<uint8_t> before = block.Snapshot(), expected = before;
    for (size_t r = 0; r < height; ++r) {
      memcpy(&expected[dst_at + r * dst_pitch], &before[src_at + r * src_pitch], width);
    }
    kernels.Copy(s, s.Bytes());
    ASSERT_EQ(block.Snapshot(), expected)
        << "width " << width << " height " << height << " pitches " << dst_pitch << " " << src_pitch << " at "
        << dst_at << " " << src_at;
  }
}

TEST(CopyKernelsTest, ThreadsShareTheTrials) {
  CopyKernels kernels(SmallLimits());
  auto copy = [&](const CopyShape& s) { kernels.Copy(s, s.Bytes()); };
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 60; ++i) {
        if (!CopiesExactly({70 * 1024, 1, 0, 0, 0, 0}, copy)) ++wrong;
        if (!CopiesExactly({512, 140, 64, 0, 0, 0}, copy)) ++wrong;
        static_cast<void>(kernels.tuning());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// What another thread reads after a release store is the whole copy: the stores that bypass the cache are
// fenced.
TEST(CopyKernelsTest, CompletesBeforeItReturns) {
  for (CopyLoop loop : kAllLoops) {
    constexpr size_t kBytes = 64 * 1024;
    Buffer dst(kBytes, 0, 1), src(kBytes, 0, 2);
    std::atomic<int> turn{0};
    std::thread reader([&] {
      for (int i = 1; i <= 50; ++i) {
        while (turn.load(std::memory_order_acquire) != 2 * i - 1) std::this_thread::yield();
        EXPECT_EQ(memcmp(dst.data(), src.data(), kBytes), 0);
        turn.store(2 * i, std::memory_order_release);
      }
    });
    for (int i = 1; i <= 50; ++i) {
      memset(src.data(), i, kBytes);
      CopyLinear(loop, dst.data(), src.data(), kBytes);
      turn.store(2 * i - 1, std::memory_order_release);
      while (turn.load(std::memory_order_acquire) != 2 * i) std::this_thread::yield();
    }
    reader.join();
  }
}

TEST(CopyApartTest, SizesAroundEveryPiece) {
  for (size_t piece : {size_t{0}, kVectorPiece, 2 * kVectorPiece, 4 * kVectorPiece, size_t{8} << 20}) {
    for (size_t width : {piece - 1, piece, piece + 1, piece + 64}) {
      if (width == ~size_t{0}) continue;
      for (size_t skew : {0, 1, 17}) {
        EXPECT_TRUE(CopiesExactly({width, 1, 0, 0, skew, 3 * skew},
                                  [](const CopyShape& s) { CopyApart(s.dst, s.src, s.Bytes()); }));
      }
    }
  }
}

TEST(CopyBytesTest, CopiesAndFillsThroughTheProcessKernels) {
  auto copy = [](const CopyShape& s) { CopyBytes(s); };
  for (size_t bytes : {0, 1, 64, 4096, 1 << 20, (16 << 20) + 1}) {
    EXPECT_TRUE(CopiesExactly({bytes, 1, 0, 0, 0, 3}, copy));
  }
  EXPECT_TRUE(CopiesExactly({4096, 4200, 64, 0, 0, 0}, copy));
  std::vector<uint8_t> block(100, 1);
  FillBytes(block.data() + 1, 0x1ff, 98);
  EXPECT_EQ(block[0], 1);
  EXPECT_EQ(block[1], 0xff);
  EXPECT_EQ(block[98], 0xff);
  EXPECT_EQ(block[99], 1);
  EXPECT_GE(CurrentCopyTuning().limits.big_copy, size_t{8} << 20);
  EXPECT_LE(CurrentCopyTuning().limits.big_copy, size_t{16} << 20);
}

// The trial alone, with invented times.
class CopyTrialTest : public ::testing::Test {
 protected:
  // One whole trial in which a loop takes cost[loop], and libc `whole_cached` for whole copies.
  void RunTrial(const double (&cost)[kCopyLoops], double whole_cached) {
    while (!trial_.TryEnter()) {
    }
    do {
      bool whole = trial_.stage() == CopyTrial::Stage::kWholes;
      CopyLoop loop = trial_.Next();
      trial_.Sample(whole && loop == CopyLoop::kCached ? whole_cached : cost[static_cast<int>(loop)]);
    } while (trial_.stage() != CopyTrial::Stage::kSettled);
    trial_.Leave();
  }
  CopyTrial trial_;
};

TEST_F(CopyTrialTest, TakesTheFastestLoop) {
  EXPECT_EQ(trial_.choice(), CopyLoop::kCached);
  EXPECT_FALSE(trial_.settled_once());
  RunTrial({1.0, 0.8, 0.5}, 1.0);
  EXPECT_EQ(trial_.choice(), CopyLoop::kInterleave);
  EXPECT_NEAR(trial_.gain(), 2.0, 1e-3);
}

TEST_F(CopyTrialTest, KeepsLibcWithoutAClearGain) {
  RunTrial({1.0, 0.97, 1.2}, 1.0);
  EXPECT_TRUE(trial_.settled_once());
  EXPECT_EQ(trial_.choice(), CopyLoop::kCached);
}

TEST_F(CopyTrialTest, KeepsLibcWhereItIsFasterOnWholeCopies) {
  RunTrial({1.0, 0.8, 0.5}, 0.5);
  EXPECT_EQ(trial_.choice(), CopyLoop::kCached);
}

TEST_F(CopyTrialTest, ADisturbedRunOfLibcsRivalIsNotTheLastWord) {
  int wholes = 0;
  while (!trial_.TryEnter()) {
  }
  do {
    CopyLoop loop = trial_.Next();
    bool whole = trial_.stage() == CopyTrial::Stage::kWholes;
    bool disturbed = whole && ++wholes <= 3;
    trial_.Sample(loop == CopyLoop::kCached ? 1.0 : disturbed ? 3.0 : 0.5);
  } while (trial_.stage() != CopyTrial::Stage::kSettled);
  trial_.Leave();
  EXPECT_NE(trial_.choice(), CopyLoop::kCached);
}

TEST_F(CopyTrialTest, ChangesItsMindOnlyWhenASecondTrialAgrees) {
  RunTrial({1.0, 0.5, 0.8}, 1.0);
  ASSERT_EQ(trial_.choice(), CopyLoop::kStream);
  RunTrial({0.5, 1.0, 1.0}, 0.5);
  EXPECT_EQ(trial_.choice(), CopyLoop::kStream);
  RunTrial({0.5, 1.0, 1.0}, 0.5);
  EXPECT_EQ(trial_.choice(), CopyLoop::kCached);
}

TEST_F(CopyTrialTest, OneHolderAtATime) {
  ASSERT_TRUE(trial_.TryEnter());
  EXPECT_FALSE(trial_.TryEnter());
  trial_.Leave();
  EXPECT_TRUE(trial_.TryEnter());
}

}  // namespace
}  // namespace belay::engine
