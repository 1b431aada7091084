// The two 16-bit formats of floating point, as bits: IEEE 754 binary16 and bfloat16. Narrowing rounds to the
// nearest value, of two that are equally near to the even one; what is too large becomes infinite, and a NaN
// stays one. Threading: values.
#pragma once

#include <bit>
#include <cstdint>

namespace belay {

constexpr float HalfToFloat(uint16_t half) {
  const uint32_t sign = uint32_t{half} >> 15 << 31;
  const uint32_t exponent = half >> 10 & 0x1f;
  const uint32_t mantissa = half & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) {  // a multiple of the smallest one, 2^-24
    const float value = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

constexpr uint16_t FloatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 31 << 15);
  bits &= 0x7fffffff;
  const auto with_sign = [sign](uint32_t half) { return static_cast<uint16_t>(sign | half); };
  if (bits > 0x7f800000) return with_sign(0x7e00 | (bits >> 13 & 0x3ff));
  constexpr uint32_t kInfinite = 0x477ff000;  // 65520: half way to what comes after the largest one
  constexpr uint32_t kNormal = 0x38800000;    // 2^-14
  constexpr uint32_t kTiny = 0x33000000;      // 2^-25: half of the smallest one
  if (bits >= kInfinite) return with_sign(0x7c00);
  if (bits <= kTiny) return sign;
  if (bits >= kNormal) {
    bits += 0xfff + (bits >> 13 & 1);
    return with_sign((bits - (uint32_t{112} << 23)) >> 13);
  }
  const uint32_t shift = 126 - (bits >> 23);
  const uint32_t mantissa = (bits & 0x7fffff) | 0x800000;
  const uint32_t half = mantissa >> shift, rest = mantissa & ((uint32_t{1} << shift) - 1);
  const uint32_t middle = uint32_t{1} << (shift - 1);
  return with_sign(half + (rest > middle || (rest == middle && (half & 1) != 0)));
}

constexpr float BfloatToFloat(uint16_t bfloat) {
  return std::bit_cast<float>(uint32_t{bfloat} << 16);
}

constexpr uint16_t FloatToBfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace belay
