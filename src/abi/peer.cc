// Peer access: SPEC 32 §2. The rule that copies follow is in abi/copy_check.cc.
#include "abi/call.h"
#include "abi/ranges.h"
#include "abi/resolve.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;
using memory::Books;
using runtime::Context;
using runtime::Device;

namespace {
// SPEC 32 §2.2: the peer's id is in range and not the current device's.
Status NeedPeer(const Call& call, const Context& context, int32_t id, Device** peer) {
  BELAY_TRY(NeedDevice(call, id, "peerDeviceId", peer));
  if (*peer != context.device) return Status();
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .Say("peerDeviceId %d is the current device", id)
      .Rule("Peer access is between two different devices (SPEC 32 §2.2)")
      .Fix("pass another device's id, or call aclrtSetDevice first")
      .With("current device bound", call.thread().bound, context.device->user)
      .End();
}
}  // namespace

Status aclrtDeviceCanAccessPeer(Call& call, int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  if (deviceId == peerDeviceId) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("deviceId and peerDeviceId are both %d", deviceId)
        .Rule("The question is about two different devices (SPEC 32 §2.1)")
        .Fix("leave the device itself out of the loop over its peers")
        .End();
  }
  Device *device = nullptr, *peer = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  BELAY_TRY(NeedDevice(call, peerDeviceId, "peerDeviceId", &peer));
  *canAccessPeer = call.machine().Reachable(device->logical, peer->logical) ? 1 : 0;
  return Status();
}

Status aclrtDeviceEnablePeerAccess(Call& call, int32_t peerDeviceId, uint32_t flags) {
  if (flags != 0) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("flags is %u", flags)
        .Rule("flags is reserved and must be 0 (SPEC 32 §2.2)")
        .Fix("pass 0")
        .End();
  }
  Context* context = nullptr;
  Device* peer = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  BELAY_TRY(NeedPeer(call, *context, peerDeviceId, &peer));
  Device& device = *context->device;
  if (!call.machine().Reachable(device.logical, peer->logical)) {
    return call.Refuse(code::kDriver, FindingId::kPeerUnreachable)
        .Say("device %d has no peer path to device %d on %s", device.user, peerDeviceId,
             call.machine().product().name.c_str())
        .Rule("Peers need a link that carries peer traffic (SPEC 32 §2.2)")
        .Fix("ask aclrtDeviceCanAccessPeer(&can, %d, %d) first, and go through host memory when it says 0",
             device.user, peerDeviceId)
        .End();
  }
  if (call.memory().books().EnablePeer(device.logical, peer->logical) == Books::Enable::kTooMany) {
    return call.Refuse(code::kOverLimit, FindingId::kResourceExhausted)
        .Say("device %d has %u peers enabled already", device.user, call.memory().books().limits().max_peers)
        .Rule("The product limits the peers of one device (SPEC 32 §2.2)")
        .Fix("call aclrtDeviceDisablePeerAccess for a peer that is no longer used")
        .End();
  }
  return Status();
}

Status aclrtDeviceDisablePeerAccess(Call& call, int32_t peerDeviceId) {
  Context* context = nullptr;
  Device* peer = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  BELAY_TRY(NeedPeer(call, *context, peerDeviceId, &peer));
  if (!call.memory().books().DisablePeer(context->device->logical, peer->logical)) {
    call.Note(FindingId::kVersionDependent)
        .Say("the direction %d to %d was not open", context->device->user, peerDeviceId)
        .Rule("Closing what is not open does nothing and succeeds (SPEC 32 §2.3)")
        .Fix("leave the call out, or enable the direction first")
        .Send();
  }
  return Status();
}

Status aclrtDevicePeerAccessStatus(Call& call, int32_t deviceId, int32_t peerDeviceId, int32_t* status) {
  int count = call.runtime().device_count();
  for (int32_t id : {deviceId, peerDeviceId}) {
    if (id >= 0 && id < count) continue;
    *status = 0;  // SPEC 32 §2.4: both readings of the page
    return call.Refuse(code::kRtParam, FindingId::kBadArgument)
        .Say("there is no device %d; this process has devices 0 to %d", id, count - 1)
        .Rule("Ids are from 0 to the device count - 1 (SPEC 32 §2.4)")
        .Fix("ask aclrtGetDeviceCount first")
        .End();
  }
  *status = deviceId != peerDeviceId &&
                    call.memory().books().PeerEnabled(call.runtime().device(deviceId).logical,
                                                      call.runtime().device(peerDeviceId).logical)
                ? 1
                : 0;
  return Status();
}

// --- Atomic capabilities (SPEC 32 §2.5, §2.6)

namespace {
constexpr uint32_t kSigned = ACL_RT_ATOMIC_CAPABILITY_SIGNED, kUnsigned = ACL_RT_ATOMIC_CAPABILITY_UNSIGNED;
constexpr uint32_t kScalar32 = ACL_RT_ATOMIC_CAPABILITY_SCALAR32,
                   kScalar64 = ACL_RT_ATOMIC_CAPABILITY_SCALAR64;
constexpr int kFirstFloat = 10, kLastSimt = 12, kLastKnown = 31;

uint32_t Capabilities(int operation, bool with_host) {
  if (operation > kLastSimt) return 0;
  if (operation >= kFirstFloat) return with_host ? 0 : kSigned | kScalar32;
  if (operation == 3 || operation == 4) return kUnsigned | kScalar32 | kScalar64;  // increment, decrement
  return kSigned | kUnsigned | kScalar32 | kScalar64;
}

Status CheckOperations(const Call& call, const aclrtAtomicOperation* operations, uint32_t count) {
  if (count == 0) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("count is 0")
        .Rule("At least one operation is asked about (SPEC 32 §2.6)")
        .Fix("pass the number of operations")
        .End();
  }
  for (uint32_t i = 0; i < count; ++i) {
    int operation = static_cast<int>(operations[i]);
    if (operation >= 0 && operation <= kLastKnown) continue;
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("operations[%u] is %d", i, operation)
        .Rule("Operation codes are 0 to 31 (SPEC 32 §2.6)")
        .Fix("pass ACL_RT_ATOMIC_OPERATION_ values")
        .End();
  }
  return Status();
}

void Fill(const Call& call, uint32_t* capabilities, const aclrtAtomicOperation* operations, uint32_t count,
          bool reachable, bool with_host) {
  bool any = reachable && call.machine().family() == facts::Family::k950;
  for (uint32_t i = 0; i < count; ++i) {
    capabilities[i] = any ? Capabilities(static_cast<int>(operations[i]), with_host) : 0;
  }
}
}  // namespace

Status aclrtDeviceGetP2PAtomicCapabilities(Call& call, uint32_t* capabilities,
                                           const aclrtAtomicOperation* operations, const uint32_t count,
                                           int32_t srcDeviceId, int32_t dstDeviceId) {
  BELAY_TRY(CheckOperations(call, operations, count));
  Device *source = nullptr, *target = nullptr;
  BELAY_TRY(NeedDevice(call, srcDeviceId, "srcDeviceId", &source));
  BELAY_TRY(NeedDevice(call, dstDeviceId, "dstDeviceId", &target));
  bool reachable = source == target || call.machine().Reachable(source->logical, target->logical);
  Fill(call, capabilities, operations, count, reachable, false);
  return Status();
}

Status aclrtDeviceGetHostAtomicCapabilities(Call& call, uint32_t* capabilities,
                                            const aclrtAtomicOperation* operations, const uint32_t count,
                                            int32_t deviceId) {
  BELAY_TRY(CheckOperations(call, operations, count));
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  Fill(call, capabilities, operations, count, true, true);
  return Status();
}

// SPEC 32 §2.7: a hint that has no visible effect, but the rules of the page hold.
Status aclrtMemP2PMap(Call& call, void* devPtr, size_t size, int32_t dstDevId, uint64_t flags) {
  if (size == 0 || flags != 0) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("size is %zu and flags is %llu", size, static_cast<unsigned long long>(flags))
        .Rule("size is more than 0 and flags, which is reserved, is 0 (SPEC 32 §2.7)")
        .Fix("pass the size of the range, and 0 as flags")
        .End();
  }
  Context* context = nullptr;
  Device* consumer = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  BELAY_TRY(NeedDevice(call, dstDevId, "dstDevId", &consumer));
  Range range;
  BELAY_TRY(NeedDeviceRange(call, devPtr, size, "devPtr", &range));
  if (range.device == consumer->logical) {
    return call.Refuse(code::kRtParam, FindingId::kBadArgument)
        .Say("dstDevId %d owns the memory", dstDevId)
        .Rule("The mapping is for another device than the owner (SPEC 32 §2.7)")
        .Fix("pass the id of the device that will use the memory")
        .End();
  }
  int owner = call.runtime().UserId(range.device);
  if (!call.memory().books().PeerEnabled(consumer->logical, range.device)) {
    return call.Refuse(code::kRtParam, FindingId::kPeerNotEnabled)
        .Say("the direction %d to %d is not open", dstDevId, owner)
        .Rule("Peer access is enabled before memory is mapped (SPEC 32 §2.7)")
        .Fix("call aclrtSetDevice(%d) and aclrtDeviceEnablePeerAccess(%d, 0) first", dstDevId, owner)
        .End();
  }
  return Status();
}

}  // namespace belay::abi::body
