#include "base/bfloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace belay {
namespace {

// All finite values of a format, from its definition, with their bits.
struct Value {
  double value;
  uint16_t bits;
};
std::vector<Value> NotNegative(int mantissa_bits, int bias, int largest_exponent) {
  std::vector<Value> values;
  for (int exponent = 0; exponent < largest_exponent; ++exponent) {
    for (int mantissa = 0; mantissa < 1 << mantissa_bits; ++mantissa) {
      const double fraction = std::ldexp(mantissa, -mantissa_bits);
      values.push_back(
          {exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias),
           static_cast<uint16_t>(exponent << mantissa_bits | mantissa)});
    }
  }
  return values;
}
const std::vector<Value> kBfloat = NotNegative(7, 127, 255);

uint32_t Bits(float value) {
  return std::bit_cast<uint32_t>(value);
}

template <class Widen, class Narrow>
void Check(const std::vector<Value>& values, Widen widen, Narrow narrow) {
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<float>(values[i].value);
    const auto negative = static_cast<uint16_t>(values[i].bits | 0x8000);
    ASSERT_EQ(Bits(widen(values[i].bits)), Bits(value)) << values[i].bits;
    ASSERT_EQ(Bits(widen(negative)), Bits(-value)) << negative;
    ASSERT_EQ(narrow(value), values[i].bits) << value;
    ASSERT_EQ(narrow(-value), negative) << value;
    if (i + 1 == values.size()) break;
    // Between two neighbours: the nearer one, and of both the even one.
    const auto middle = static_cast<float>((values[i].value + values[i + 1].value) / 2);
    const float infinity = std::numeric_limits<float>::infinity();
    ASSERT_EQ(narrow(middle), values[i].bits + (values[i].bits & 1)) << value;
    ASSERT_EQ(narrow(std::nextafter(middle, 0.0F)), values[i].bits) << value;
    ASSERT_EQ(narrow(std::nextafter(middle, infinity)), values[i + 1].bits) << value;
  }
}

TEST(BfloatTest, IsExactAndRoundsToNearestEven) {
  Check(kBfloat, BfloatToFloat, FloatToBfloat);
}

TEST(BfloatTest, WhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(FloatToBfloat(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(BfloatToFloat(FloatToBfloat(kInfinity)), kInfinity);
  EXPECT_EQ(BfloatToFloat(FloatToBfloat(-kInfinity)), -kInfinity);
  EXPECT_TRUE(std::isnan(BfloatToFloat(FloatToBfloat(std::numeric_limits<float>::quiet_NaN()))));
  // A NaN whose payload lies in the bits that go away.
  EXPECT_TRUE(std::isnan(BfloatToFloat(FloatToBfloat(std::bit_cast<float>(uint32_t{0x7f800001})))));
}

}  // namespace
}  // namespace belay
