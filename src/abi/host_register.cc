// Host memory that the program registers for a device. SPEC 30 §3.3 to §3.7.
#include <cinttypes>

#include "abi/call.h"
#include "abi/ranges.h"
#include "abi/resolve.h"
#include "belay/abi/bodies.h"

namespace belay::abi {
namespace {
using check::FindingId;
using memory::HostMemory;
using runtime::Context;

constexpr uintptr_t kPage = 4096;

Status NeedRegisterType(const Call& call, int type) {
  if (type == ACL_HOST_REGISTER_MAPPED) return Status();
  bool reserved = type == ACL_HOST_REGISTER_IOMEMORY || type == ACL_HOST_REGISTER_READONLY;
  return call
      .Refuse(reserved ? code::kNotSupported : code::kInvalidParam,
              reserved ? FindingId::kUnsupported : FindingId::kBadArgument)
      .Say("type is %d", type)
      .Rule("The only supported type is ACL_HOST_REGISTER_MAPPED (SPEC 30 §3.3)")
      .Fix("pass ACL_HOST_REGISTER_MAPPED")
      .End();
}

Status NeedRegisterFlags(const Call& call, uint32_t flag) {
  constexpr uint32_t kKnown = ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED;
  constexpr uint32_t kReserved = ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY;
  if (flag != 0 && (flag & ~kKnown) == 0) return Status();
  bool reserved = (flag & kReserved) != 0;
  return call
      .Refuse(reserved ? code::kNotSupported : code::kInvalidParam,
              reserved ? FindingId::kUnsupported : FindingId::kBadArgument)
      .Say("flag is 0x%x", flag)
      .Rule("flag is ACL_HOST_REG_MAPPED, ACL_HOST_REG_PINNED or both (SPEC 30 §3.4)")
      .Fix("pass ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED, or the one that is needed")
      .End();
}

[[gnu::cold]] Status RefuseOverlap(const Call& call, const void* ptr, uint64_t size,
                                   const HostMemory::Registration& other) {
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .Say("ptr %p + %" PRIu64 " bytes overlaps the registered range 0x%" PRIxPTR " + %" PRIu64, ptr, size,
           other.start, other.bytes)
      .Rule("A range is registered once, for one device (SPEC 30 §3.3)")
      .Fix("call aclrtHostUnregister for the other range first")
      .With("registered", RegisteredAt(other), call.runtime().UserId(other.device))
      .End();
}

// The range that is to be registered, its start on a page and all of it on the host.
Status NeedHostPages(const Call& call, const void* ptr, uint64_t size, Range* range) {
  auto address = reinterpret_cast<uintptr_t>(ptr);
  if (address % kPage != 0) {
    return call.Refuse(code::kRtParam, FindingId::kBadArgument)
        .Say("ptr %p is not aligned to a page of 4096 bytes", ptr)
        .Rule("Registered memory starts on a page (SPEC 30 §3.3)")
        .Fix("allocate the buffer with aclrtMallocHost or aligned_alloc(4096, size)")
        .End();
  }
  BELAY_TRY(NeedRange(call, ptr, size, "ptr", range));
  if (!range->on_device() && address + size >= address) return Status();
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .Say("ptr %p + %" PRIu64 " bytes is no host memory", ptr, size)
      .Rule("Host memory is registered (SPEC 30 §3.3)")
      .Fix("pass host memory; device memory needs no registration")
      .End();
}

// `mapped` and `pinned` of the registration are filled in by the caller, the rest here.
Status Register(const Call& call, void* ptr, uint64_t size, HostMemory::Registration* registration) {
  if (size == 0) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("size is 0")
        .Rule("A registered range has at least one byte (SPEC 30 §3.3)")
        .Fix("pass the size of the buffer in bytes")
        .End();
  }
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  Range range;
  BELAY_TRY(NeedHostPages(call, ptr, size, &range));
  HostMemory::Registration other;
  registration->start = reinterpret_cast<uintptr_t>(ptr);
  registration->bytes = size;
  registration->device = context->device->logical;
  registration->site = call.site();
  registration->thread = call.thread().id;
  registration->function = static_cast<uint16_t>(call.fn());
  bool va_flag = range.block != nullptr && range.block->va_flag;
  if (runtime::HostWatch* watch = call.runtime().host_watch(); watch != nullptr) {
    registration->can_guard = watch->CanGuard(registration->start, size);
  }
  switch (call.memory().host().Register(registration, va_flag, &other)) {
    case HostMemory::RegisterResult::kRegistered:
      return Status();
    case HostMemory::RegisterResult::kOverlaps:
      return RefuseOverlap(call, ptr, size, other);
    case HostMemory::RegisterResult::kNoAlias:
      return call.Refuse(code::kRtParam, FindingId::kResourceExhausted)
          .Say("no device-side address range of %" PRIu64 " bytes is left", size)
          .Rule("Registered ranges share one address region (SPEC 30 §3.3)")
          .Fix("call aclrtHostUnregister for ranges that are no longer used")
          .End();
  }
  return Status();
}

[[gnu::cold]] Status RefuseUnmapped(const Call& call, const void* pHost,
                                    const HostMemory::Registration* found) {
  Refusal refusal = call.Refuse(code::kRtParam, FindingId::kUnknownPointer);
  if (found == nullptr) {
    refusal.Say("pHost %p lies in no registered range", pHost)
        .Fix("register the memory first, with aclrtHostRegisterV2(ptr, size, ACL_HOST_REG_MAPPED)");
  } else if (!found->mapped) {
    refusal.Say("pHost %p was registered without ACL_HOST_REG_MAPPED", pHost)
        .Fix("add ACL_HOST_REG_MAPPED to the flag of aclrtHostRegisterV2");
  } else {
    refusal
        .Say("pHost %p was registered by aclrtHostRegister, in version %s", pHost,
             facts::CannName(call.machine().cann()))
        .Fix("use the address that aclrtHostRegister gave, or register with aclrtHostRegisterV2");
  }
  refusal.Rule(
      "Memory has a device address when it was registered for it: by aclrtHostRegisterV2, since 9.0 also by "
      "aclrtHostRegister (SPEC 30 §3.6)");
  if (found != nullptr)
    refusal.With("registered", RegisteredAt(*found), call.runtime().UserId(found->device));
  return refusal.End();
}

// The units of a product's devices that reach mapped host memory, one bit an aclrtHacType. SPEC 30 §3.7
uint32_t UnitsThatReachHost(facts::Family family) {
  constexpr auto kBit = [](aclrtHacType unit) { return 1u << static_cast<uint32_t>(unit); };
  constexpr uint32_t kTraining = kBit(ACL_RT_HAC_TYPE_STARS) | kBit(ACL_RT_HAC_TYPE_AIC) |
                                 kBit(ACL_RT_HAC_TYPE_AIV) | kBit(ACL_RT_HAC_TYPE_PCIEDMA) |
                                 kBit(ACL_RT_HAC_TYPE_SDMA) | kBit(ACL_RT_HAC_TYPE_RDMA);
  switch (family) {
    case facts::Family::kA2:
    case facts::Family::kA3:
      return kTraining;
    case facts::Family::k950:
      return kTraining | kBit(ACL_RT_HAC_TYPE_UDMA) | kBit(ACL_RT_HAC_TYPE_CCU);
    default:
      return 0;  // TRN, INF and 200I
  }
}
}  // namespace

namespace body {

Status aclrtHostRegister(Call& call, void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  BELAY_TRY(NeedRegisterType(call, static_cast<int>(type)));
  HostMemory::Registration registration;
  BELAY_TRY(Register(call, ptr, size, &registration));
  *devPtr = reinterpret_cast<void*>(registration.alias);
  return Status();
}

Status aclrtHostRegisterV2(Call& call, void* ptr, uint64_t size, uint32_t flag) {
  BELAY_TRY(NeedRegisterFlags(call, flag));
  HostMemory::Registration registration;
  registration.mapped = (flag & ACL_HOST_REG_MAPPED) != 0;
  registration.pinned = (flag & ACL_HOST_REG_PINNED) != 0;
  return Register(call, ptr, size, &registration);
}

Status aclrtHostUnregister(Call& call, void* ptr) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  HostMemory::Registration around;
  if (runtime::HostWatch* watch = call.runtime().host_watch();
      watch != nullptr && call.memory().host().FindRegistration(reinterpret_cast<uintptr_t>(ptr), &around) &&
      around.start == reinterpret_cast<uintptr_t>(ptr)) {
    watch->Gone(call.now(), around.start, around.bytes);
  }
  if (call.memory().host().Unregister(reinterpret_cast<uintptr_t>(ptr))) return Status();
  Refusal refusal = call.Refuse(code::kRtParam, FindingId::kUnknownPointer);
  if (call.memory().host().FindRegistration(reinterpret_cast<uintptr_t>(ptr), &around)) {
    refusal.Say("ptr %p lies inside a registered range, but is not its start", ptr)
        .Fix("pass 0x%" PRIxPTR, around.start)
        .With("registered", RegisteredAt(around), call.runtime().UserId(around.device));
  } else {
    refusal.Say("ptr %p is not registered", ptr).Fix("pass the address that was registered, once");
  }
  return refusal.Rule("A registration is cancelled by the address that was registered (SPEC 30 §3.5)").End();
}

Status aclrtHostGetDevicePointer(Call& call, void* pHost, void** pDevice, uint32_t flag) {
  if (flag != 0) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("flag is %u", flag)
        .Rule("flag is reserved and must be 0 (SPEC 30 §3.6)")
        .Fix("pass 0")
        .End();
  }
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  HostMemory::Registration found;
  auto address = reinterpret_cast<uintptr_t>(pHost);
  if (!call.memory().host().FindRegistration(address, &found)) return RefuseUnmapped(call, pHost, nullptr);
  bool older = found.function == static_cast<uint16_t>(facts::Fn::aclrtHostRegister) &&
               call.machine().cann() < facts::Cann::k90;
  if (!found.mapped || older) return RefuseUnmapped(call, pHost, &found);
  *pDevice = reinterpret_cast<void*>(found.alias + (address - found.start));
  return Status();
}

Status aclrtHostMemMapCapabilities(Call& call, uint32_t deviceId, aclrtHacType hacType,
                                   aclrtHostMemMapCapability* capabilities) {
  auto unit = static_cast<uint32_t>(hacType);
  if (unit > ACL_RT_HAC_TYPE_CCU) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("hacType is %d", static_cast<int>(hacType))
        .Rule("hacType is one of aclrtHacType, 0 to 9 (SPEC 30 §3.7)")
        .Fix("pass an ACL_RT_HAC_TYPE_ value")
        .End();
  }
  runtime::Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, static_cast<int32_t>(deviceId), "deviceId", &device));
  bool reaches = (UnitsThatReachHost(call.machine().family()) >> unit & 1) != 0;
  *capabilities = reaches ? ACL_RT_HOST_MEM_MAP_SUPPORTED : ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
  return Status();
}

}  // namespace body
}  // namespace belay::abi
