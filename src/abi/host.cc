// Pinned host memory. SPEC 30 §3.1, §3.2.
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

}  // namespace body
}  // namespace belay::abi
