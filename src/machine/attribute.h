// What aclrtGetDeviceInfo and its older relatives say of a device. // SPEC 10 §5.2, §5.3
//
// Threading: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "machine/machine.h"

namespace belay::machine {

struct AttributeValue {
  enum class Kind : uint8_t { kKnown, kUnknownNumber, kNotHere } kind = Kind::kKnown;
  int64_t value = 0;
  const char* why = "";  // of kNotHere
};

// `attribute` is a number of aclrtDevAttr.
AttributeValue Attribute(const Machine& machine, int logical, int32_t attribute);

// SPEC 10 §5.3: whether newer number formats and their kernels exist.
bool HasInfNan(facts::Family family);
bool HasBf16(facts::Family family);
bool HasJitCompile(facts::Family family);
// Numbers of a stream's priority, smaller is more urgent.
struct PriorityRange {
  int32_t least = 0, greatest = 0;
};
PriorityRange StreamPriorities(facts::Family family);

// The same in every process.
std::array<uint8_t, 16> Uuid(const Machine& machine, int logical);

}  // namespace belay::machine
