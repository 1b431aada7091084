// Where the ranges that a call names really lie, and whether they may be touched: SPEC 31 §0.4.
#pragma once

#include <cstdint>

#include "abi/call.h"

namespace belay::abi {

// The start of a range.
using Range = memory::NodeMemory::Place;

[[gnu::always_inline]] inline Range Locate(const Call& call, const void* address) {
  return call.memory().Locate(reinterpret_cast<uintptr_t>(address));
}
// What the engine is told.
inline engine::OpSide SideOf(const Range& range) {
  return {range.memory, range.block};
}

// `extent` bytes from `address` on, 0 allowed. A range of the runtime's own memory must lie in one live block
// (107000); other host memory is taken as it is.
[[gnu::cold]] Status RefuseRange(const Call& call, const void* address, uint64_t extent, const Range& range,
                                 const char* parameter);
inline Status NeedRange(const Call& call, const void* address, uint64_t extent, const char* parameter,
                        Range* range) {
  *range = Locate(call, address);
  if (!range->Holds(extent)) [[unlikely]]
    return RefuseRange(call, address, extent, *range, parameter);
  return Status();
}

// The same, and it must be device memory.
Status NeedDeviceRange(const Call& call, const void* address, uint64_t extent, const char* parameter,
                       Range* range);

// The words for a device pointer that names no live block.
[[gnu::cold]] Status RefuseBlock(const Call& call, const void* address, const Range& range,
                                 const char* parameter);

using runtime::AllocatedAt;
using runtime::RegisteredAt;
runtime::Moment FreedAt(const memory::Allocation& block);

}  // namespace belay::abi
