// Device memory: allocation, free, cache maintenance, address ranges. SPEC 30 §2.
#include <cinttypes>
#include <map>

#include "abi/call.h"
#include "abi/malloc_config.h"
#include "abi/ranges.h"
#include "abi/resolve.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi {
namespace {
using check::FindingId;
using memory::Allocation;
using memory::DeviceMemory;
using memory::MallocPolicy;
using memory::SlabHeap;
using runtime::Context;
using runtime::Device;

// --- Allocation (SPEC 30 §2.1 to §2.6)

Status NeedPolicy(const Call& call, uint32_t policy) {
  const machine::Machine& machine = call.machine();
  bool no_giant = MallocPolicy::IsHuge1g(policy) && !machine.has_huge_1g();
  bool no_p2p = MallocPolicy::IsP2p(policy) && machine.family() == facts::Family::k200I;
  if (!no_giant && !no_p2p) [[likely]]
    return Status();
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .Say("policy %u asks for %s, which %s does not have", policy,
           no_giant ? "pages of 1 GiB" : "P2P memory", machine.product().name.c_str())
      .Rule(no_giant ? "Pages of 1 GiB exist on A2 and A3 (SPEC 30 §2.1)"
                     : "P2P policies do not exist on this product (SPEC 30 §2.1)")
      .Fix("use ACL_MEM_MALLOC_HUGE_FIRST")
      .End();
}

Status RefuseSize(const Call& call) {
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("size is 0")
      .Rule("An allocation has at least one byte (SPEC 30 §2.1)")
      .Fix("skip the allocation when there is nothing to hold")
      .End();
}

// Who holds the memory: the creation site with the most bytes.
[[gnu::cold]] Status RefuseShort(const Call& call, const Device& device, uint64_t size,
                                 DeviceMemory::Shortage shortage) {
  struct Holder {
    uint64_t bytes = 0, blocks = 0;
    const Allocation* one = nullptr;
  };
  std::map<uint64_t, Holder> by_site;
  uint64_t blocks = 0;
  DeviceMemory& memory = *call.memory().Find(device.logical);
  memory.ForEachLive([&](const Allocation& block) {
    Holder& holder = by_site[block.allocated.value];
    holder.bytes += block.charged;
    ++holder.blocks;
    holder.one = &block;
    ++blocks;
  });
  const Holder* largest = nullptr;
  for (const auto& [site, holder] : by_site) {
    if (largest == nullptr || holder.bytes > largest->bytes) largest = &holder;
  }
  memory::PageTotals totals = call.memory().books().Totals(device.logical);
  Refusal refusal = call.Refuse(code::kNoMemory, FindingId::kResourceExhausted);
  if (shortage == DeviceMemory::Shortage::kAddressSpace) {
    refusal
        .Say("%" PRIu64 " bytes do not fit in the address space of device %d, which is %" PRIu64 " MiB", size,
             device.user, memory.largest_block() >> 20)
        .Fix("ask for fewer devices (--devices), so that each one's share of the address space grows");
  } else {
    refusal
        .Say("%" PRIu64 " bytes asked for, %" PRIu64 " of %" PRIu64
             " MiB free on device %d; this process holds %" PRIu64 " MiB in %" PRIu64 " blocks",
             size, totals.free() >> 20, totals.total() >> 20, device.user,
             call.memory().books().used_bytes(device.logical) >> 20, blocks)
        .Fix("free memory first, or give the device more with --hbm");
  }
  refusal.Rule("An allocation succeeds while the device has pages of its kind (SPEC 30 §0.3)");
  if (largest != nullptr) refusal.With("most memory allocated", AllocatedAt(*largest->one), device.user);
  return refusal.End();
}

Status Allocate(const Call& call, void** devPtr, size_t size, uint32_t policy, bool align32,
                const aclrtMallocConfig* cfg) {
  BELAY_TRY(NeedPolicy(call, policy));
  MallocConfig config;
  if (cfg != nullptr) BELAY_TRY(ReadMallocConfig(call, *cfg, MallocConfig::For::kDevice, &config));
  if (size == 0) [[unlikely]]
    return RefuseSize(call);
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  const Device& device = *context->device;
  BELAY_TRY(NeedConfigDevice(call, config, device));
  BELAY_TRY(NeedWhole(call, device));
  DeviceMemory::Request request;
  request.size = size;
  request.policy = policy;
  request.align32 = align32;
  request.module = config.module;
  request.site = call.site();
  request.thread = call.thread().id;
  request.function = static_cast<uint16_t>(call.fn());
  DeviceMemory::Shortage shortage;
  DeviceMemory& memory = *call.memory().Find(device.logical);
  Allocation* block = memory.Allocate(request, &shortage);
  if (block == nullptr) [[unlikely]]
    return RefuseShort(call, device, size, shortage);
  if (check::OrderChecker* order = call.runtime().order()) order->Forget(*block);
  *devPtr = reinterpret_cast<void*>(memory.UserAddress(*block));
  return Status();
}

// --- Free (SPEC 30 §2.7)

[[gnu::cold]] Status RefuseFree(const Call& call, const void* pointer,
                                const memory::NodeMemory::Place& place) {
  const Allocation* block = place.block;
  bool device_side = place.region == memory::AddressSpace::Region::kDevice;
  constexpr char kRule[] =
      "A free takes the address that an allocation of the same kind returned, once (SPEC 30 §2.7)";
  if (!device_side || block == nullptr ||
      block->state.load(std::memory_order_acquire) == Allocation::State::kNever) {
    Refusal refusal = call.Refuse(code::kRtParam, FindingId::kUnknownPointer);
    bool pinned = place.region == memory::AddressSpace::Region::kPinned;
    refusal.Say("devPtr %p is %s", pointer,
                device_side ? "an address that was never allocated"
                : pinned    ? "pinned host memory"
                            : "host memory that the runtime did not allocate");
    return refusal.Rule(kRule).Fix(pinned ? "call aclrtFreeHost" : "pass what aclrtMalloc returned").End();
  }
  int device = call.runtime().UserId(place.device);
  if (!block->live()) {
    return call.Refuse(code::kRtParam, FindingId::kDoubleFree)
        .Say("devPtr %p, a block of %" PRIu64 " bytes on device %d, %s", pointer, block->size, device,
             block->by_reset ? "went with the reset of its device" : "was freed before")
        .Rule(kRule)
        .Fix(block->by_reset ? "free memory before the device is reset"
                             : "free it once; set the pointer to null after the first")
        .With("freed", FreedAt(*block), device)
        .With("allocated", AllocatedAt(*block), device)
        .End();
  }
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .Say("devPtr %p is byte %" PRIu64 " of a block of %" PRIu64 " bytes on device %d, not its start",
           pointer, place.at, block->size, device)
      .Rule(kRule)
      .Fix("pass the address that aclrtMalloc returned, %p", static_cast<const char*>(pointer) - place.at)
      .With("allocated", AllocatedAt(*block), device)
      .End();
}

[[gnu::cold]] void NoteFreedInUse(const Call& call, const void* pointer, const Allocation& block,
                                  int logical) {
  int device = call.runtime().UserId(logical);
  Notice notice = call.Note(FindingId::kUseAfterFree);
  notice
      .Say("devPtr %p, a block of %" PRIu64 " bytes on device %d, is freed while a task still uses it",
           pointer, block.size, device)
      .Rule("aclrtFree does not wait: tasks that use the memory are done before (SPEC 30 §2.7)")
      .Fix("synchronise the stream first, or call aclrtFreeWithDevSync");
  for (int user = 0; user < call.runtime().device_count(); ++user) {
    Device& other = call.runtime().device(user);
    if (!other.open()) continue;
    for (runtime::StreamObject* stream : call.runtime().StreamsOf(other)) {
      engine::Op task;
      if (!call.engine().FindTask(*stream->stream, &block, &task)) continue;
      notice.With("task submitted", {task.api, task.thread, task.site}, user, stream->id).Send();
      return;
    }
  }
  notice.Send();
}

Status Free(const Call& call, void* devPtr, bool synchronise) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  memory::NodeMemory::Place place = call.memory().Locate(reinterpret_cast<uintptr_t>(devPtr));
  bool device_side = place.region == memory::AddressSpace::Region::kDevice;
  if (!device_side || place.block == nullptr || !place.block->live() || place.at != 0) [[unlikely]] {
    return RefuseFree(call, devPtr, place);
  }
  Status status;
  if (synchronise) {
    // SPEC 30 §2.7: the owner is synchronised; its failure is told, and the memory goes all the same.
    int user = call.runtime().UserId(place.device);
    BELAY_TRY(NeedOtherDevice(call, call.runtime().device(user)));
    status = SynchronizeWhole(call, call.runtime().device(user));
  }
  DeviceMemory& memory = *call.memory().Find(place.device);
  if (check::OrderChecker* order = call.runtime().order()) order->Forget(*place.block);
  switch (memory.Free(place.block, call.site(), call.thread().id)) {
    case SlabHeap::FreeResult::kFreed:
      return status;
    case SlabHeap::FreeResult::kInUse:
      NoteFreedInUse(call, devPtr, *place.block, place.device);
      return status;
    case SlabHeap::FreeResult::kNotLive:
      return RefuseFree(call, devPtr, place);
  }
  return status;
}

Status Maintain(const Call& call, void* devPtr, size_t size) {
  if (size == 0) return RefuseSize(call);
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  Range range;
  return NeedDeviceRange(call, devPtr, size, "devPtr", &range);
}
}  // namespace

namespace body {

Status aclrtMalloc(Call& call, void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return Allocate(call, devPtr, size, static_cast<uint32_t>(policy), false, nullptr);
}

Status aclrtMallocAlign32(Call& call, void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  bool tight = call.machine().family() != facts::Family::k950;  // SPEC 30 §2.2: on 950 it equals aclrtMalloc
  return Allocate(call, devPtr, size, static_cast<uint32_t>(policy), tight, nullptr);
}

Status aclrtMallocCached(Call& call, void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  uint32_t value = static_cast<uint32_t>(policy);
  bool single = value <= MallocPolicy::kNormalOnly || value == MallocPolicy::kHuge1gOnly;
  if (!single && call.machine().cann() >= facts::Cann::k91) {
    return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
        .Say("policy is %u", value)
        .Rule(
            "From 9.1 on aclrtMallocCached takes HUGE_FIRST, HUGE_ONLY, NORMAL_ONLY and HUGE1G_ONLY (SPEC 30 "
            "§2.3)")
        .Fix("use ACL_MEM_MALLOC_HUGE_FIRST, or aclrtMalloc")
        .End();
  }
  return Allocate(call, devPtr, size, value, false, nullptr);
}

Status aclrtMallocWithCfg(Call& call, void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                          aclrtMallocConfig* cfg) {
  return Allocate(call, devPtr, size, static_cast<uint32_t>(policy), false, cfg);
}

Status aclrtMallocForTaskScheduler(Call& call, void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                                   aclrtMallocConfig* cfg) {
  return Allocate(call, devPtr, size, static_cast<uint32_t>(policy), false, cfg);
}

Status aclrtFree(Call& call, void* devPtr) {
  return Free(call, devPtr, false);
}
Status aclrtFreeWithDevSync(Call& call, void* devPtr) {
  return Free(call, devPtr, true);
}

// SPEC 30 §2.8: coherence is automatic; the arguments are still checked.
Status aclrtMemFlush(Call& call, void* devPtr, size_t size) {
  return Maintain(call, devPtr, size);
}
Status aclrtMemInvalidate(Call& call, void* devPtr, size_t size) {
  return Maintain(call, devPtr, size);
}

Status aclrtMemGetAddressRange(Call& call, void* ptr, void** pbase, size_t* psize) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  Range range;
  BELAY_TRY(NeedRange(call, ptr, 0, "ptr", &range));
  if (range.block == nullptr) {
    return call.Refuse(code::kRtParam, FindingId::kUnknownPointer)
        .Say("ptr %p lies in no block of the runtime", ptr)
        .Rule("The address lies in memory of aclrtMalloc or aclrtMallocHost (SPEC 30 §2.9)")
        .Fix("pass an address inside such memory")
        .End();
  }
  *pbase = static_cast<char*>(ptr) - range.at;
  *psize = range.block->size;
  return Status();
}

}  // namespace body
}  // namespace belay::abi
