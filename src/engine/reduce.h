// The arithmetic of aclrtReduceAsync: dst[i] = dst[i] op src[i] (SPEC 31 §5).
//
// Integers wrap; 16-bit floating point is computed as float and rounded to nearest even; the greater and the
// lesser of a NaN and anything is a NaN. Threading: the bytes belong to the caller.
#pragma once

#include <cstddef>
#include <cstdint>

namespace belay::engine {

enum class ReduceKind : uint8_t { kSum, kMax, kMin };
enum class ElementType : uint8_t { kInt8, kInt16, kInt32, kUint32, kHalf, kFloat, kBfloat };

constexpr size_t ElementBytes(ElementType type) {
  switch (type) {
    case ElementType::kInt8:
      return 1;
    case ElementType::kInt16:
    case ElementType::kHalf:
    case ElementType::kBfloat:
      return 2;
    default:
      return 4;
  }
}

// `bytes`: a multiple of ElementBytes. The addresses need no alignment, and may be the same.
void Reduce(ReduceKind kind, ElementType type, uint8_t* dst, const uint8_t* src, size_t bytes);

}  // namespace belay::engine
