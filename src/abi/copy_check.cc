#include "abi/copy_check.h"

namespace belay::abi {
namespace {
using check::FindingId;
using memory::AddressSpace;

const char* SideName(const Range& range) {
  switch (range.region) {
    case AddressSpace::Region::kDevice:
      return "device";
    case AddressSpace::Region::kPinned:
      return "pinned host";
    default:
      return "host";
  }
}

bool Windowed(const Call& call) {
  return call.memory().books().limits().p2p_window != 0;
}

// SPEC 32 §3: where P2P memory is a window of its own, both buffers of a cross-device copy come from it.
Status NeedP2pPolicy(const Call& call, const Range& range, const char* parameter) {
  if (!range.on_device() || range.block->p2p) return Status();
  int device = call.runtime().UserId(range.device);
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .Say("%s was not allocated for copies between devices (device %d)", parameter, device)
      .Rule("On this product buffers of a cross-device copy come from a P2P policy (SPEC 32 §3)")
      .Fix("allocate it with ACL_MEM_MALLOC_HUGE_FIRST_P2P")
      .With("allocated", AllocatedAt(*range.block), device)
      .End();
}
// SPEC 32 §3: versions up to 8.5 speak of both devices at once.
void NoteOneWay(const Call& call, int from, int to) {
  call.Note(FindingId::kVersionDependent)
      .Say("only the direction %d to %d is open, not %d to %d", from, to, to, from)
      .Rule("From 9.0 on one direction is enough for a copy; older versions may ask for both (SPEC 32 §3)")
      .Fix("with device %d current, call aclrtDeviceEnablePeerAccess(%d, 0) as well", to, from)
      .Send();
}
}  // namespace

Status NeedRangeOfStream(const Call& call, const runtime::StreamObject& stream, const void* address,
                         uint64_t extent, const char* parameter, const char* rule, Range* range) {
  BELAY_TRY(NeedDeviceRange(call, address, extent, parameter, range));
  if (range->device == stream.device->logical) return Status();
  int owner = call.runtime().UserId(range->device);
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .On(stream.device->user, stream.id)
      .Say("%s %p is memory of device %d, stream %d belongs to device %d", parameter, address, owner,
           stream.id, stream.device->user)
      .Rule(rule)
      .Fix("pass a stream of device %d, or copy the bytes to device %d first", owner, stream.device->user)
      .With("allocated", AllocatedAt(*range->block), owner)
      .End();
}

const char* KindName(int kind) {
  static constexpr const char* kNames[] = {"ACL_MEMCPY_HOST_TO_HOST",
                                           "ACL_MEMCPY_HOST_TO_DEVICE",
                                           "ACL_MEMCPY_DEVICE_TO_HOST",
                                           "ACL_MEMCPY_DEVICE_TO_DEVICE",
                                           "ACL_MEMCPY_DEFAULT",
                                           "ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE",
                                           "ACL_MEMCPY_INNER_DEVICE_TO_DEVICE",
                                           "ACL_MEMCPY_INTER_DEVICE_TO_DEVICE"};
  return kind >= 0 && kind <= CopyKind::kLast ? kNames[kind] : "no documented kind";
}

Status NeedKnownKind(const Call& call, int kind) {
  if (kind > CopyKind::kDefault && kind <= CopyKind::kLast && call.machine().cann() < facts::Cann::k85) {
    return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
        .Say("kind %s came with version 8.2, the profile is %s", KindName(kind),
             facts::CannName(call.machine().cann()))
        .Rule("A value that only a newer version knows answers 207000 (SPEC 31 §0.1)")
        .Fix("use ACL_MEMCPY_HOST_TO_DEVICE or ACL_MEMCPY_DEVICE_TO_DEVICE, or a newer --cann")
        .End();
  }
  if (kind >= 0 && kind <= CopyKind::kLast) return Status();
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("kind is %d", kind)
      .Rule("kind is one of aclrtMemcpyKind, 0 to 7 (SPEC 31 §0.1)")
      .Fix("pass ACL_MEMCPY_DEFAULT to have the direction inferred")
      .End();
}

bool KindFits(int kind, int inferred, const Range& dst, const Range& src) {
  switch (kind) {
    case CopyKind::kDefault:
      return true;
    case CopyKind::kHostToBufferToDevice:
      return inferred == CopyKind::kHostToDevice;
    case CopyKind::kInnerDevice:
      return inferred == CopyKind::kDeviceToDevice && dst.device == src.device;
    case CopyKind::kInterDevice:
      return inferred == CopyKind::kDeviceToDevice && dst.device != src.device;
    default:
      return kind == inferred;
  }
}

Status RefuseSides(const Call& call, int kind, int inferred, const void* dst, const void* src,
                   const Range& dst_range, const Range& src_range) {
  Refusal refusal = call.Refuse(code::kRtParam, FindingId::kWrongSide);
  refusal.Say("kind %s, but dst %p is %s memory", KindName(kind), dst, SideName(dst_range));
  if (dst_range.on_device()) refusal.Say(" of device %d", call.runtime().UserId(dst_range.device));
  refusal.Say(" and src %p is %s memory", src, SideName(src_range));
  if (src_range.on_device()) refusal.Say(" of device %d", call.runtime().UserId(src_range.device));
  refusal.Rule("The kind of the copy fits where the pointers really are (SPEC 31 §0.4)")
      .Fix("pass %s, or swap the pointers if they are mixed up", KindName(inferred));
  if (dst_range.block != nullptr) refusal.With("dst allocated", AllocatedAt(*dst_range.block));
  if (src_range.block != nullptr) refusal.With("src allocated", AllocatedAt(*src_range.block));
  return refusal.End();
}

Status NeedPeers(const Call& call, int executor, const Range& dst, const Range& src) {
  memory::Books& books = call.memory().books();
  bool both = call.machine().quirks().peer_require_both;
  for (const Range* side : {&src, &dst}) {
    if (!side->on_device() || side->device == executor) continue;
    int from = call.runtime().UserId(executor), to = call.runtime().UserId(side->device);
    bool open = books.PeerEnabled(executor, side->device);
    bool back_open = books.PeerEnabled(side->device, executor);
    if (open && !back_open && !both) NoteOneWay(call, from, to);
    if (open && (back_open || !both)) continue;
    if (call.machine().quirks().peer_lenient) {
      call.Note(FindingId::kPeerNotEnabled)
          .As(check::Severity::kWarning)
          .Say("device %d may not access memory of device %d; the bytes went through the host", from, to)
          .Rule("Cross-device copies need peer access; the quirk peer.lenient lets them pass (SPEC 32 §3)")
          .Fix("with device %d current, call aclrtDeviceEnablePeerAccess(%d, 0)", from, to)
          .Send();
      continue;
    }
    if (!call.machine().Reachable(executor, side->device)) {
      return call.Refuse(code::kRtParam, FindingId::kPeerUnreachable)
          .Say("device %d has no peer path to device %d on %s", from, to,
               call.machine().product().name.c_str())
          .Rule("A cross-device copy needs a link that carries peer traffic (SPEC 32 §3)")
          .Fix("copy to host memory and from there to the other device")
          .End();
    }
    int missing_from = open ? to : from, missing_to = open ? from : to;
    Refusal refusal = call.Refuse(code::kRtParam, FindingId::kPeerNotEnabled);
    refusal.Say(
        "the copy runs on device %d and touches memory of device %d, but the direction %d to %d is not open",
        from, to, missing_from, missing_to);
    if (!open && back_open) refusal.Say("; only %d to %d is", to, from);
    if (side->block != nullptr) refusal.With("memory allocated", AllocatedAt(*side->block), to);
    return refusal
        .Rule(both ? "A cross-device copy needs both directions open (quirk peer.require_both, SPEC 32 §3)"
                   : "The executing device has opened every other device that the copy touches (SPEC 32 §3)")
        .Fix("with device %d current, call aclrtDeviceEnablePeerAccess(%d, 0) before the copy", missing_from,
             missing_to)
        .End();
  }
  if (dst.on_device() && src.on_device() && dst.device != src.device && Windowed(call)) {
    BELAY_TRY(NeedP2pPolicy(call, src, "src"));
    BELAY_TRY(NeedP2pPolicy(call, dst, "dst"));
  }
  return Status();
}

}  // namespace belay::abi
