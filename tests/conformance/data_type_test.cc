// SPEC 11 §§4.1, 6.1 to 6.3: data types, half precision, data buffers, the program's log.
#include <cmath>
#include <limits>

#include "support.h"

namespace conformance {
namespace {

class DataTypes : public Clean {};

TEST_F(DataTypes, Sizes) {
  const std::pair<int, size_t> rows[] = {
      {-1, 0}, {0, 4},  {1, 2},  {2, 1},  {3, 4},  {4, 1},  {5, 0},   {6, 2},  {7, 2},   {8, 4},
      {9, 8},  {10, 8}, {11, 8}, {12, 1}, {13, 0}, {14, 0}, {15, 0},  {16, 8}, {17, 16}, {26, 0},
      {27, 2}, {28, 0}, {29, 0}, {30, 0}, {31, 0}, {32, 0}, {33, 4},  {34, 1}, {35, 1},  {36, 1},
      {37, 1}, {38, 0}, {39, 0}, {40, 0}, {41, 0}, {42, 0}, {1000, 0}};
  for (const auto& [type, size] : rows)
    EXPECT_EQ(aclDataTypeSize(static_cast<aclDataType>(type)), size) << type;
}

TEST_F(DataTypes, EveryHalfByArithmetic) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const auto half = static_cast<aclFloat16>(i);
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const float value = aclFloat16ToFloat(half);
    ASSERT_EQ(std::signbit(value), (half & 0x8000) != 0) << i;
    if (exponent == 31 && fraction != 0) {
      ASSERT_TRUE(std::isnan(value)) << i;
      ASSERT_EQ(aclFloatToFloat16(value), half | 0x200) << i;
      continue;
    }
    const double magnitude = exponent == 31  ? std::numeric_limits<double>::infinity()
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(1024 + fraction, exponent - 25);
    ASSERT_EQ(std::fabs(static_cast<double>(value)), magnitude) << i;
    ASSERT_EQ(aclFloatToFloat16(value), half) << i;
  }
  EXPECT_EQ(aclFloatToFloat16(2049.0f), 0x6800) << "to even";
  EXPECT_EQ(aclFloatToFloat16(2051.0f), 0x6802);
  EXPECT_EQ(aclFloatToFloat16(65519.996f), 0x7bff);
  EXPECT_EQ(aclFloatToFloat16(-65520.0f), 0xfc00);
  EXPECT_EQ(aclFloatToFloat16(std::ldexp(1.0f, -25)), 0) << "half of the smallest, to even";
  EXPECT_EQ(aclFloatToFloat16(std::nextafterf(std::ldexp(1.0f, -25), 1.0f)), 1);
}

TEST_F(DataTypes, Buffers) {
  int memory[4] = {};
  aclDataBuffer* buffer = aclCreateDataBuffer(memory, sizeof(memory));
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), memory);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), sizeof(memory));
  EXPECT_EQ(aclGetDataBufferSize(buffer), sizeof(memory));
  EXPECT_OK(aclUpdateDataBuffer(buffer, memory + 1, 7));
  OnNewThread([&] {
    EXPECT_EQ(aclGetDataBufferAddr(buffer), memory + 1);
    EXPECT_EQ(aclGetDataBufferSizeV2(buffer), 7u);
  });
  EXPECT_OK(aclUpdateDataBuffer(buffer, nullptr, (size_t{1} << 32) + 5));
  EXPECT_EQ(aclGetDataBufferAddr(buffer), nullptr);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), (size_t{1} << 32) + 5);
  EXPECT_EQ(aclGetDataBufferSize(buffer), 5u) << "the low half";
  EXPECT_OK(aclDestroyDataBuffer(buffer));

  const aclError handle = ACL_ERROR_RT_INVALID_HANDLE, null = ACL_ERROR_INVALID_PARAM;
  EXPECT_ACL(handle, aclDestroyDataBuffer(buffer));
  EXPECT_ACL(handle, aclUpdateDataBuffer(buffer, memory, 1));
  EXPECT_ACL(handle, aclDestroyDataBuffer(reinterpret_cast<aclDataBuffer*>(memory)));
  EXPECT_EQ(aclGetDataBufferAddr(buffer), nullptr);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), 0u);
  EXPECT_ACL(null, aclDestroyDataBuffer(nullptr));
  EXPECT_ACL(null, aclUpdateDataBuffer(nullptr, memory, 1));
  EXPECT_EQ(aclGetDataBufferAddr(nullptr), nullptr);
  EXPECT_EQ(aclGetDataBufferSizeV2(nullptr), 0u);
  EXPECT_EQ(aclGetDataBufferSize(nullptr), 0u);
  aclDataBuffer* empty = aclCreateDataBuffer(nullptr, 0);
  EXPECT_NE(empty, nullptr) << "allowed";
  EXPECT_NE(empty, buffer) << "a value is given out once";
  EXPECT_OK(aclDestroyDataBuffer(empty));
}

}  // namespace
}  // namespace conformance
