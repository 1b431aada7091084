// IEEE binary16, as bits, to and from float. // SPEC 11 §6.2
//
// Guarantees: to float is exact; from float rounds to nearest even, keeps subnormals, and overflows to
// infinity with its sign. A NaN stays one: quiet, with the top bits of its payload. Threading: pure
// functions.
#pragma once

#include <bit>
#include <cstdint>

namespace belay {

constexpr float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = half >> 10 & 0x1fu;
  uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) {
    const uint32_t quiet = fraction != 0 ? 0x400000u : 0;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | fraction << 13);
  }
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  if (fraction == 0) return std::bit_cast<float>(sign);
  // A subnormal half is a normal float: its top bit becomes the hidden one.
  const uint32_t shift = static_cast<uint32_t>(std::countl_zero(fraction)) - 21;
  fraction = (fraction << shift) & 0x3ffu;
  return std::bit_cast<float>(sign | (113 - shift) << 23 | fraction << 13);
}

constexpr uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65536 and more
  uint32_t kept, rest, half_way;
  if (magnitude >= 0x38800000u) {  // 2^-14: a normal half; a carry moves into the exponent, up to infinity
    kept = (magnitude - 0x38000000u) >> 13;
    rest = magnitude & 0x1fffu;
    half_way = 0x1000u;
  } else {
    const uint32_t exponent = magnitude >> 23;
    if (exponent < 102) return static_cast<uint16_t>(sign);  // below half of the smallest subnormal
    const uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
    const uint32_t shift = 126 - exponent;
    kept = fraction >> shift;
    rest = fraction & ((1u << shift) - 1);
    half_way = 1u << (shift - 1);
  }
  if (rest > half_way || (rest == half_way && (kept & 1) != 0)) ++kept;
  return static_cast<uint16_t>(sign | kept);
}

}  // namespace belay
