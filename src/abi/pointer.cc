// What an address names: SPEC 34 §3.
#include "abi/call.h"
#include "abi/ranges.h"
#include "abi/resolve.h"
#include "belay/abi/bodies.h"

namespace belay::abi {
namespace {
using check::FindingId;
using memory::AddressSpace;
using memory::HostMemory;

struct Place {
  aclrtMemLocationType type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
  int id = 0;
  uint64_t page = 0;  // bytes
};

Place PlaceOf(const Call& call, const void* ptr, int current_device) {
  constexpr uint64_t kPage = memory::kNormalPage;
  auto address = reinterpret_cast<uintptr_t>(ptr);
  const HostMemory& host = call.memory().host();
  HostMemory::Registration found;
  Range range = Locate(call, ptr);
  switch (range.region) {
    case AddressSpace::Region::kDevice:
      if (!range.Holds(1)) return {};
      return {ACL_MEM_LOCATION_TYPE_DEVICE, call.runtime().UserId(range.device),
              memory::PageBytes(range.block->pages)};
    case AddressSpace::Region::kPinned:
      if (!range.Holds(1)) return {};
      return {ACL_MEM_LOCATION_TYPE_HOST, 0, kPage};
    case AddressSpace::Region::kAlias:
      if (!host.FindAlias(address, &found)) return {};
      return {ACL_MEM_LOCATION_TYPE_DEVICE, current_device, kPage};
    case AddressSpace::Region::kHost:
      if (!host.FindRegistration(address, &found)) return {};
      return {ACL_MEM_LOCATION_TYPE_HOST, 0, kPage};
  }
  return {};
}
}  // namespace

namespace body {

Status aclrtPointerGetAttributes(Call& call, const void* ptr, aclrtPtrAttributes* attributes) {
  runtime::Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  Place place = PlaceOf(call, ptr, context->device->user);
  if (place.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED && call.machine().quirks().ptrattr_strict) {
    return call.Refuse(code::kRtParam, FindingId::kUnknownPointer)
        .Say("ptr %p lies in no live allocation or registration", ptr)
        .Rule("With the quirk ptrattr.strict an unknown address is refused (SPEC 34 §3)")
        .Fix("pass an address of the runtime's memory, or leave the quirk off to get UNREGISTERED")
        .End();
  }
  *attributes = {};  // the reserved fields too
  attributes->location.type = place.type;
  attributes->location.id = static_cast<uint32_t>(place.id);
  attributes->pageSize = static_cast<uint32_t>(place.page);
  return Status();
}

}  // namespace body
}  // namespace belay::abi
