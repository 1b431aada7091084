#include "engine/guarded_copy.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace belay::engine {
namespace {
using memory::HostGuard;

constexpr size_t kPage = 4096;
constexpr size_t kHost = size_t{4} << 20;

class GuardedCopyTest : public testing::Test {
 protected:
  GuardedCopyTest() : guard_({}) {
    host_ = static_cast<uint8_t*>(
        mmap(nullptr, kHost, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(host_, MAP_FAILED);
    for (size_t i = 0; i < kHost; ++i) host_[i] = static_cast<uint8_t>(i * 7 + i / 4096);
  }
  ~GuardedCopyTest() override {
    guard_.ReleaseAll();
    munmap(host_, kHost);
  }

  void Close(size_t at, size_t bytes, HostGuard::Use use) {
    HostGuard::Range range;
    range.begin = reinterpret_cast<uintptr_t>(host_) + at;
    range.width = range.pitch = bytes;
    range.use = use;
    range.stream = &guard_;
    range.sequence = ++sequence_;
    ASSERT_TRUE(guard_.Add(range));
  }
  // Some of the pages, in no order.
  void CloseSome(std::mt19937& random) {
    for (int i = 0; i < 6; ++i) {
      size_t at = random() % kHost;
      Close(at, 1 + random() % std::min<size_t>(kHost - at, 40 * kPage),
            random() % 2 == 0 ? HostGuard::Use::kSource : HostGuard::Use::kTarget);
    }
  }

  HostGuard guard_;
  uint8_t* host_ = nullptr;
  uint64_t sequence_ = 0;
};

// The bytes are those of the copy without a guard, whatever is closed.
TEST_F(GuardedCopyTest, BytesArriveInEveryShape) {
  std::mt19937 random(3);
  std::vector<uint8_t> other(kHost);
  for (int round = 0; round < 60; ++round) {
    const size_t rows = round % 3 == 0 ? 1 : 1 + random() % 50;
    const size_t width = 1 + random() % (rows == 1 ? kHost / 2 : kHost / rows / 2);
    const size_t host_pitch = width + random() % (kHost / rows / 2), pitch = width + random() % 100;
    const size_t at = random() % (kHost - (rows - 1) * host_pitch - width + 1);
    if ((rows - 1) * pitch + width > other.size()) continue;
    std::generate(other.begin(), other.end(), [&random] { return static_cast<uint8_t>(random()); });
    std::vector<uint8_t> host_before(host_, host_ + kHost), other_before = other;
    CloseSome(random);
    const bool up = round % 2 == 0;
    CopyShape shape = up ? CopyShape{other.data(), host_ + at, pitch, host_pitch, width, rows}
                         : CopyShape{host_ + at, other.data(), host_pitch, pitch, width, rows};
    CopyGuarded(guard_, shape, up, !up);
    guard_.ReleaseAll();
    for (size_t row = 0; row < rows; ++row) {
      up ? memcpy(&other_before[row * pitch], &host_before[at + row * host_pitch], width)
         : memcpy(&host_before[at + row * host_pitch], &other_before[row * pitch], width);
    }
    ASSERT_EQ(memcmp(host_before.data(), host_, kHost), 0) << round;
    ASSERT_EQ(other_before, other) << round;
  }
}

// SPEC 31 §0.4.6: also where source and target overlap.
TEST_F(GuardedCopyTest, CopiesInsideTheHostMayOverlap) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    const size_t bytes = 1 + random() % (kHost / 2);
    const size_t from = random() % (kHost / 2), to = random() % (kHost / 2);
    std::vector<uint8_t> expected(host_, host_ + kHost);
    memmove(&expected[to], &expected[from], bytes);
    if (round % 4 != 0) CloseSome(random);
    CopyGuarded(guard_, CopyShape::Linear(host_ + to, host_ + from, bytes), true, true);
    guard_.ReleaseAll();
    ASSERT_EQ(memcmp(expected.data(), host_, kHost), 0) << round;
  }
}

TEST_F(GuardedCopyTest, FillsAndWords) {
  Close(kPage, 3 * kPage, HostGuard::Use::kTarget);
  Close(0, 10, HostGuard::Use::kSource);
  FillGuarded(guard_, host_ + 100, 0x5a, 2 * kPage);
  auto* word = reinterpret_cast<uint64_t*>(host_ + 2 * kPage + 512);
  StoreGuarded(guard_, word, 77);
  EXPECT_EQ(LoadGuarded(guard_, word), 77u);
  StoreGuarded(guard_, reinterpret_cast<uint64_t*>(host_ + 5 * kPage), 78);
  guard_.ReleaseAll();
  EXPECT_EQ(*word, 77u);
  EXPECT_EQ(LoadGuarded(guard_, reinterpret_cast<uint64_t*>(host_ + 5 * kPage)), 78u);
  EXPECT_EQ(std::count(host_ + 100, host_ + 100 + 2 * kPage, 0x5a), static_cast<ptrdiff_t>(2 * kPage));
  EXPECT_NE(host_[99], 0x5a);
}

}  // namespace
}  // namespace belay::engine
