// bfloat16, as bits, to and from float: its upper half. // SPEC 31 §5
//
// Guarantees: to float is exact; from float rounds to nearest even, and what is too large becomes infinite. A
// NaN stays one. Threading: pure functions.
#pragma once

#include <bit>
#include <cstdint>

namespace belay {

constexpr float BfloatToFloat(uint16_t bfloat) {
  return std::bit_cast<float>(uint32_t{bfloat} << 16);
}

constexpr uint16_t FloatToBfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace belay
