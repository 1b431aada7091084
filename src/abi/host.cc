// Host memory: pinned blocks and registration. SPEC 30 §3.
#include <cinttypes>

#include "abi/call.h"
#include "abi/malloc_config.h"
#include "abi/ranges.h"
#include "abi/resolve.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi {
namespace {
using check::FindingId;
using memory::AddressSpace;
using memory::Allocation;
using memory::HostMemory;
using memory::SlabHeap;
using runtime::Context;

constexpr uintptr_t kPage = 4096;

Status Allocate(const Call& call, void** pointer, uint64_t size, const aclrtMallocConfig* cfg) {
  MallocConfig config;
  if (cfg != nullptr) BELAY_TRY(ReadMallocConfig(call, *cfg, MallocConfig::For::kHost, &config));
  if (size == 0) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("size is 0")
        .Rule("An allocation has at least one byte (SPEC 30 §3.1)")
        .Fix("skip the allocation when there is nothing to hold")
        .End();
  }
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  BELAY_TRY(NeedConfigDevice(call, config, *context->device));
  HostMemory& host = call.memory().host();
  Allocation* block =
      host.Allocate(size, config.va_flag, call.site(), call.thread().id, static_cast<uint16_t>(call.fn()));
  if (block == nullptr) {
    return call.Refuse(code::kNoMemory, FindingId::kResourceExhausted)
        .Say("%" PRIu64 " bytes of pinned memory asked for; this process holds %" PRIu64 " MiB", size,
             host.pinned_bytes() >> 20)
        .Rule("Pinned memory is limited by the address space and by the quirk host_pin_limit (SPEC 30 §3.1)")
        .Fix("free pinned memory first")
        .End();
  }
  *pointer = reinterpret_cast<void*>(host.Address(*block));
  return Status();
}

[[gnu::cold]] Status RefuseFree(const Call& call, const void* pointer,
                                const memory::NodeMemory::Place& place) {
  const Allocation* block = place.block;
  constexpr char kRule[] =
      "A free takes the address that an allocation of the same kind returned, once (SPEC 30 §3.2)";
  bool pinned = place.region == AddressSpace::Region::kPinned;
  if (!pinned || block == nullptr ||
      block->state.load(std::memory_order_acquire) == Allocation::State::kNever) {
    bool device_side = place.region == AddressSpace::Region::kDevice;
    return call.Refuse(code::kRtParam, FindingId::kUnknownPointer)
        .Say("hostPtr %p is %s", pointer, device_side ? "device memory" : "no memory from aclrtMallocHost")
        .Rule(kRule)
        .Fix(device_side ? "call aclrtFree"
                         : "pass what aclrtMallocHost returned; use free() for memory from malloc()")
        .End();
  }
  if (!block->live()) {
    return call.Refuse(code::kRtParam, FindingId::kDoubleFree)
        .Say("hostPtr %p, a pinned block of %" PRIu64 " bytes, was freed before", pointer, block->size)
        .Rule(kRule)
        .Fix("free it once; set the pointer to null after the first")
        .With("freed", FreedAt(*block))
        .With("allocated", AllocatedAt(*block))
        .End();
  }
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .Say("hostPtr %p is byte %" PRIu64 " of a pinned block of %" PRIu64 " bytes, not its start", pointer,
           place.at, block->size)
      .Rule(kRule)
      .Fix("pass the address that aclrtMallocHost returned, %p", static_cast<const char*>(pointer) - place.at)
      .With("allocated", AllocatedAt(*block))
      .End();
}

Status Free(const Call& call, void* hostPtr, bool synchronise) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  memory::NodeMemory::Place place = call.memory().Locate(reinterpret_cast<uintptr_t>(hostPtr));
  bool pinned = place.region == AddressSpace::Region::kPinned;
  if (!pinned || place.block == nullptr || !place.block->live() || place.at != 0)
    return RefuseFree(call, hostPtr, place);
  Status status;
  // SPEC 30 §3.2: pinned memory has no owner, so the current device is synchronised.
  if (synchronise) BELAY_TRY(NeedOtherDevice(call, *context->device));
  if (synchronise) status = SynchronizeWhole(call, *context->device);
  if (check::OrderChecker* order = call.runtime().order()) order->Forget(*place.block);
  if (runtime::HostWatch* watch = call.runtime().host_watch(); watch != nullptr) {
    watch->Gone(call.now(), reinterpret_cast<uintptr_t>(hostPtr), place.block->charged);
  }
  if (call.memory().host().Free(place.block, call.site(), call.thread().id) ==
      SlabHeap::FreeResult::kNotLive) {
    return RefuseFree(call, hostPtr, place);
  }
  return status;
}

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

[[gnu::cold]] Status RefuseOverlap(const Call& call, const void* ptr, uint64_t size,
                                   const HostMemory::Registration& other) {
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .Say("ptr %p + %" PRIu64 " bytes overlaps the registered range 0x%" PRIxPTR " + %" PRIu64, ptr, size,
           other.start, other.bytes)
      .Rule("A range is registered once, for one device (SPEC 30 §3.3)")
      .Fix("call aclrtHostUnregister for the other range first")
      .With("registered", {"aclrtHostRegister", other.thread, other.site},
            call.runtime().UserId(other.device))
      .End();
}
}  // namespace

namespace body {

Status aclrtMallocHost(Call& call, void** hostPtr, size_t size) {
  return Allocate(call, hostPtr, size, nullptr);
}
Status aclrtMallocHostWithCfg(Call& call, void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  return Allocate(call, ptr, size, cfg);
}
Status aclrtFreeHost(Call& call, void* hostPtr) {
  return Free(call, hostPtr, false);
}
Status aclrtFreeHostWithDevSync(Call& call, void* hostPtr) {
  return Free(call, hostPtr, true);
}

Status aclrtHostRegister(Call& call, void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  BELAY_TRY(NeedRegisterType(call, static_cast<int>(type)));
  if (size == 0) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("size is 0")
        .Rule("A registered range has at least one byte (SPEC 30 §3.3)")
        .Fix("pass the size of the buffer in bytes")
        .End();
  }
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  auto address = reinterpret_cast<uintptr_t>(ptr);
  if (address % kPage != 0) {
    return call.Refuse(code::kRtParam, FindingId::kBadArgument)
        .Say("ptr %p is not aligned to a page of 4096 bytes", ptr)
        .Rule("Registered memory starts on a page (SPEC 30 §3.3)")
        .Fix("allocate the buffer with aclrtMallocHost or aligned_alloc(4096, size)")
        .End();
  }
  Range range;
  BELAY_TRY(NeedRange(call, ptr, size, "ptr", &range));
  if (range.on_device() || address + size < address) {
    return call.Refuse(code::kRtParam, FindingId::kBadArgument)
        .Say("ptr %p + %" PRIu64 " bytes is no host memory", ptr, size)
        .Rule("Host memory is registered (SPEC 30 §3.3)")
        .Fix("pass host memory; device memory needs no registration")
        .End();
  }
  HostMemory::Registration registration, other;
  registration.start = address;
  registration.bytes = size;
  registration.device = context->device->logical;
  registration.site = call.site();
  registration.thread = call.thread().id;
  bool va_flag = range.block != nullptr && range.block->va_flag;
  if (runtime::HostWatch* watch = call.runtime().host_watch(); watch != nullptr) {
    registration.can_guard = watch->CanGuard(address, size);
  }
  switch (call.memory().host().Register(&registration, va_flag, &other)) {
    case HostMemory::RegisterResult::kRegistered:
      *devPtr = reinterpret_cast<void*>(registration.alias);
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
        .With("registered", {"aclrtHostRegister", around.thread, around.site},
              call.runtime().UserId(around.device));
  } else {
    refusal.Say("ptr %p is not registered", ptr).Fix("pass the address that was registered, once");
  }
  return refusal.Rule("A registration is cancelled by the address that was registered (SPEC 30 §3.5)").End();
}

}  // namespace body
}  // namespace belay::abi
