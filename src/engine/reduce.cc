#include "engine/reduce.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/bfloat.h"
#include "base/half.h"

namespace belay::engine {
namespace {

// How an element is stored, and as what it is computed.
template <class T>
struct Plain {
  using Stored = T;
  static T Widen(T stored) { return stored; }
  static T Narrow(T value) { return value; }
};
struct Half {
  using Stored = uint16_t;
  static float Widen(uint16_t stored) { return HalfToFloat(stored); }
  static uint16_t Narrow(float value) { return FloatToHalf(value); }
};
struct Bfloat {
  using Stored = uint16_t;
  static float Widen(uint16_t stored) { return BfloatToFloat(stored); }
  static uint16_t Narrow(float value) { return FloatToBfloat(value); }
};

template <ReduceKind kKind, class T>
T Combine(T a, T b) {
  if constexpr (kKind == ReduceKind::kSum) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    } else {
      return a + b;
    }
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
    }
    return (kKind == ReduceKind::kMax) == (a < b) ? b : a;
  }
}

template <class Element, ReduceKind kKind>
void Loop(uint8_t* dst, const uint8_t* src, size_t bytes) {
  using Stored = typename Element::Stored;
  for (size_t at = 0; at < bytes; at += sizeof(Stored)) {
    Stored a, b;
    memcpy(&a, dst + at, sizeof a);
    memcpy(&b, src + at, sizeof b);
    const Stored result = Element::Narrow(Combine<kKind>(Element::Widen(a), Element::Widen(b)));
    memcpy(dst + at, &result, sizeof result);
  }
}

template <class Element>
void Of(ReduceKind kind, uint8_t* dst, const uint8_t* src, size_t bytes) {
  switch (kind) {
    case ReduceKind::kSum:
      return Loop<Element, ReduceKind::kSum>(dst, src, bytes);
    case ReduceKind::kMax:
      return Loop<Element, ReduceKind::kMax>(dst, src, bytes);
    case ReduceKind::kMin:
      return Loop<Element, ReduceKind::kMin>(dst, src, bytes);
  }
}

}  // namespace

void Reduce(ReduceKind kind, ElementType type, uint8_t* dst, const uint8_t* src, size_t bytes) {
  switch (type) {
    case ElementType::kInt8:
      return Of<Plain<int8_t>>(kind, dst, src, bytes);
    case ElementType::kInt16:
      return Of<Plain<int16_t>>(kind, dst, src, bytes);
    case ElementType::kInt32:
      return Of<Plain<int32_t>>(kind, dst, src, bytes);
    case ElementType::kUint32:
      return Of<Plain<uint32_t>>(kind, dst, src, bytes);
    case ElementType::kHalf:
      return Of<Half>(kind, dst, src, bytes);
    case ElementType::kFloat:
      return Of<Plain<float>>(kind, dst, src, bytes);
    case ElementType::kBfloat:
      return Of<Bfloat>(kind, dst, src, bytes);
  }
}

}  // namespace belay::engine
