// Where the ranges that a call names really lie, and whether they may be touched: SPEC 31 §0.4.
#pragma once

#include <cstdint>

#include "abi/call.h"

namespace belay::abi {

struct Range {
  memory::AddressSpace::Region region = memory::AddressSpace::Region::kHost;
  int device = -1;           // logical id of the owner; -1 = host
  engine::OpSide side;       // what the engine is told; no block for memory that the runtime does not know
  uint8_t* bytes = nullptr;  // where the engine finds them

  bool on_device() const { return region == memory::AddressSpace::Region::kDevice; }
};

// `extent` bytes from `address` on, 0 allowed. A range of the runtime's own memory must lie in one live block
// (107000); other host memory is taken as it is.
[[gnu::cold]] Status RefuseRange(const Call& call, const void* address, uint64_t extent,
                                 const memory::NodeMemory::Place& place, const char* parameter);
inline Status NeedRange(const Call& call, const void* address, uint64_t extent, const char* parameter,
                        Range* range) {
  memory::NodeMemory::Place place = call.memory().Locate(reinterpret_cast<uintptr_t>(address));
  range->region = place.region;
  range->device = place.device;
  range->side = {place.memory, place.block};
  range->bytes = static_cast<uint8_t*>(const_cast<void*>(address));
  if (place.region == memory::AddressSpace::Region::kHost) return Status();
  bool inside = place.block != nullptr && place.block->live() && place.at <= place.block->extent &&
                extent <= place.block->extent - place.at;
  if (!inside) [[unlikely]]
    return RefuseRange(call, address, extent, place, parameter);
  if (place.region == memory::AddressSpace::Region::kDevice) {
    range->bytes = call.memory().space().EngineAddress(reinterpret_cast<uintptr_t>(address));
  }
  return Status();
}

// The same, and it must be device memory.
Status NeedDeviceRange(const Call& call, const void* address, uint64_t extent, const char* parameter,
                       Range* range);

// The words for a device pointer that names no live block.
[[gnu::cold]] Status RefuseBlock(const Call& call, const void* address,
                                 const memory::NodeMemory::Place& place, const char* parameter);

runtime::Moment AllocatedAt(const memory::Allocation& block);
runtime::Moment FreedAt(const memory::Allocation& block);

}  // namespace belay::abi
