#include "abi/ranges.h"

#include <cinttypes>

namespace belay::abi {
namespace {
using check::FindingId;
using memory::AddressSpace;
using memory::Allocation;

const char* BlockName(const Range& range) {
  return range.region == AddressSpace::Region::kPinned ? "pinned host block" : "device block";
}

int UserDevice(const Call& call, const Range& range) {
  return range.device >= 0 ? call.runtime().UserId(range.device) : -1;
}

[[gnu::cold]] Status RefuseExtent(const Call& call, const void* address, uint64_t extent, const Range& range,
                                  const char* parameter) {
  const Allocation& block = *range.block;
  int device = UserDevice(call, range);
  Refusal refusal = call.Refuse(code::kRtParam, FindingId::kOutOfBounds);
  refusal.Say("%s %p + %" PRIu64 " bytes reaches byte %" PRIu64 " of a %s of %" PRIu64 " bytes", parameter,
              address, extent, range.at + extent, BlockName(range), block.size);
  if (device >= 0) refusal.Say(" on device %d", device);
  return refusal.Rule("A range lies inside one live block (SPEC 31 §0.4)")
      .Fix("allocate at least %" PRIu64 " bytes, or touch at most %" PRIu64 " from here on",
           range.at + extent, range.at < block.extent ? block.extent - range.at : 0)
      .With("allocated", AllocatedAt(block), device)
      .End();
}

[[gnu::cold]] Status RefuseAlias(const Call& call, const void* address, const char* parameter) {
  Refusal refusal = call.Refuse(code::kRtParam, FindingId::kBadArgument);
  refusal.Say("%s %p is the device address of registered host memory", parameter, address)
      .Rule("Copies take the host address, not the mapped one (SPEC 30 §3.3)");
  memory::HostMemory::Registration found;
  if (call.memory().host().FindAlias(reinterpret_cast<uintptr_t>(address), &found)) {
    uintptr_t host = found.start + (reinterpret_cast<uintptr_t>(address) - found.alias);
    refusal.Fix("pass the host address 0x%" PRIxPTR, host)
        .With("registered", RegisteredAt(found), call.runtime().UserId(found.device));
  } else {
    refusal.Fix("pass an address that is registered");
  }
  return refusal.End();
}
}  // namespace

runtime::Moment FreedAt(const Allocation& block) {
  return {block.by_reset ? "a device reset" : nullptr, block.freed_thread, block.freed};
}

Status RefuseBlock(const Call& call, const void* address, const Range& range, const char* parameter) {
  int device = UserDevice(call, range);
  const Allocation* block = range.block;
  if (block == nullptr || block->state.load(std::memory_order_acquire) == Allocation::State::kNever) {
    Refusal refusal = call.Refuse(code::kRtParam, FindingId::kUnknownPointer);
    refusal.Say("%s %p lies in no block that was ever allocated", parameter, address);
    if (device >= 0) refusal.Say(" on device %d", device);
    return refusal.Rule("A device address lies in a live block (SPEC 31 §0.4)")
        .Fix("pass an address inside memory from aclrtMalloc")
        .End();
  }
  return call.Refuse(code::kRtParam, FindingId::kUseAfterFree)
      .Say("%s %p lies in a %s of %" PRIu64 " bytes that %s", parameter, address, BlockName(range),
           block->size, block->by_reset ? "went with the reset of its device" : "was freed")
      .Rule("Memory is used only between its allocation and its free (SPEC 31 §0.4)")
      .Fix("move the %s behind the last use", block->by_reset ? "reset" : "free")
      .With("freed", FreedAt(*block), device)
      .With("allocated", AllocatedAt(*block), device)
      .End();
}

Status RefuseRange(const Call& call, const void* address, uint64_t extent, const Range& range,
                   const char* parameter) {
  if (range.region == AddressSpace::Region::kAlias) return RefuseAlias(call, address, parameter);
  if (range.block == nullptr || !range.block->live()) return RefuseBlock(call, address, range, parameter);
  return RefuseExtent(call, address, extent, range, parameter);
}

Status NeedDeviceRange(const Call& call, const void* address, uint64_t extent, const char* parameter,
                       Range* range) {
  BELAY_TRY(NeedRange(call, address, extent, parameter, range));
  if (range->on_device()) return Status();
  return call.Refuse(code::kRtParam, FindingId::kUnknownPointer)
      .Say("%s %p is host memory", parameter, address)
      .Rule("The call takes device memory only (SPEC 30 §2)")
      .Fix("pass an address inside memory from aclrtMalloc")
      .End();
}

}  // namespace belay::abi
