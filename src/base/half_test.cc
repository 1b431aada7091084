#include "base/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace belay {
namespace {

// The same by arithmetic instead of bits.
double ValueOf(uint16_t half) {
  const int exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

bool IsNan(uint16_t half) {
  return (half & 0x7fff) > 0x7c00;
}

// By search: the nearest of all halves, the even one of two; 65536 stands for infinity.
uint16_t Nearest(float value) {
  static const std::vector<double> table = [] {
    std::vector<double> values;
    for (uint32_t half = 0; half < 0x7c00; ++half) values.push_back(ValueOf(static_cast<uint16_t>(half)));
    values.push_back(65536);
    return values;
  }();
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude >= 65536) return sign | 0x7c00;
  size_t above = static_cast<size_t>(std::upper_bound(table.begin(), table.end(), magnitude) - table.begin());
  size_t below = above - 1;
  const double down = magnitude - table[below], up = table[above] - magnitude;
  const size_t chosen = down < up || (down == up && below % 2 == 0) ? below : above;
  return static_cast<uint16_t>(sign | chosen);
}

TEST(HalfTest, EveryHalfHasItsValueAndComesBack) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const auto half = static_cast<uint16_t>(i);
    const float value = HalfToFloat(half);
    if (IsNan(half)) {
      const uint32_t bits = std::bit_cast<uint32_t>(value);
      ASSERT_EQ(bits, static_cast<uint32_t>(half & 0x8000) << 16 | 0x7fc00000u | (half & 0x3ffu) << 13) << i;
      ASSERT_EQ(FloatToHalf(value), half | 0x200) << i;
    } else if ((half & 0x7fff) == 0x7c00) {
      ASSERT_TRUE(std::isinf(value));
      ASSERT_EQ(FloatToHalf(value), half);
    } else {
      ASSERT_EQ(static_cast<double>(value), ValueOf(half)) << i;
      ASSERT_EQ(std::signbit(value), (half & 0x8000) != 0) << i;
      ASSERT_EQ(FloatToHalf(value), half) << i;
    }
  }
}

TEST(HalfTest, BetweenTwoHalvesTheNearerOrTheEvenOneWins) {
  for (uint32_t i = 0; i < 0x7c00; ++i) {
    const double low = ValueOf(static_cast<uint16_t>(i));
    const double high = i == 0x7bff ? 65536 : ValueOf(static_cast<uint16_t>(i + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    ASSERT_EQ(static_cast<double>(middle), (low + high) / 2) << "exact in float";
    for (float value : {middle, std::nextafterf(middle, 0), std::nextafterf(middle, INFINITY)}) {
      ASSERT_EQ(FloatToHalf(value), Nearest(value)) << value;
      ASSERT_EQ(FloatToHalf(-value), Nearest(-value)) << -value;
    }
  }
}

TEST(HalfTest, RandomFloatsAgreeWithTheSearch) {
  std::minstd_rand random(7);
  for (int i = 0; i < 300000; ++i) {
    const uint32_t bits = static_cast<uint32_t>(random()) << 16 ^ static_cast<uint32_t>(random());
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    ASSERT_EQ(FloatToHalf(value), Nearest(value)) << bits;
  }
}

TEST(HalfTest, ANanKeepsSignQuietBitAndTopPayload) {
  EXPECT_EQ(FloatToHalf(std::bit_cast<float>(0x7f800001u)), 0x7e00)
      << "a low payload is cut, and it stays NaN";
  EXPECT_EQ(FloatToHalf(std::bit_cast<float>(0xff802000u)), 0xfe01);
  EXPECT_EQ(FloatToHalf(std::bit_cast<float>(0x7fffffffu)), 0x7fff);
}

static_assert(FloatToHalf(65519.0f) == 0x7bff && FloatToHalf(65520.0f) == 0x7c00);

}  // namespace
}  // namespace belay
