#include "os/ticks.h"

#include <gtest/gtest.h>

#include "os/thread.h"

namespace belay::os {
namespace {

TEST(TicksTest, ConvertsToTheMonotonicClock) {
  NowTicks();
  int64_t start = MonotonicNs();
  while (MonotonicNs() - start < 5'000'000) {
  }
  // The tick was read between the two looks at the clock; 50 us are far more than the conversion's error.
  constexpr int64_t kError = 50'000;
  for (int i = 0; i < 100; ++i) {
    int64_t before = MonotonicNs();
    int64_t ticks = NowTicks();
    int64_t after = MonotonicNs();
    int64_t ns = TicksToNs(ticks);
    EXPECT_GE(ns, before - kError);
    EXPECT_LE(ns, after + kError);
  }
}

TEST(TicksTest, LengthsAddUp) {
  int64_t a = NowTicks(), b = NowTicks();
  EXPECT_GE(b, a);
  EXPECT_EQ(TickLengthNs(0), 0);
  EXPECT_GE(TickLengthNs(b - a), 0);
}

}  // namespace
}  // namespace belay::os
