// The rules that all copies share: kinds and sides, and who may reach whom. SPEC 31 §0.1 to §0.4, 32 §3.
#pragma once

#include "abi/call.h"
#include "abi/ranges.h"
#include "engine/copy_shape.h"

namespace belay::abi {

// aclrtMemcpyKind by what it says of the sides.
struct CopyKind {
  static constexpr int kHostToHost = 0, kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3,
                       kDefault = 4, kHostToBufferToDevice = 5, kInnerDevice = 6, kInterDevice = 7, kLast = 7;
};
const char* KindName(int kind);

// 100000 above the last kind; 207000 for kinds that came with 8.2 in profile 8.1.
Status NeedKnownKind(const Call& call, int kind);

// The kind that the sides of the ranges amount to: 0 to 3.
inline int InferKind(const Range& dst, const Range& src) {
  return (src.on_device() ? 2 : 0) + (dst.on_device() ? 1 : 0);
}

// Whether what the caller says of the sides is true; `inferred` from InferKind.
bool KindFits(int kind, int inferred, const Range& dst, const Range& src);

// 107000 when it is not.
[[gnu::cold]] Status RefuseSides(const Call& call, int kind, int inferred, const void* dst, const void* src,
                                 const Range& dst_range, const Range& src_range);

// Bytes between the starts of the ranges.
inline size_t Distance(const Range& dst, const Range& src) {
  return static_cast<size_t>(dst.bytes > src.bytes ? dst.bytes - src.bytes : src.bytes - dst.bytes);
}

// A range of the stream's own device: 107000 when it is another's.
Status NeedRangeOfStream(const Call& call, const runtime::StreamObject& stream, const void* address,
                         uint64_t extent, const char* parameter, const char* rule, Range* range);

// The rule of the executing device (SPEC 32 §3): it must have opened every other device that the copy
// touches.
[[gnu::cold]] Status NeedPeers(const Call& call, int executor, const Range& dst, const Range& src);
inline Status NeedReach(const Call& call, int executor, const Range& dst, const Range& src) {
  bool local = (!dst.on_device() || dst.device == executor) && (!src.on_device() || src.device == executor);
  if (local) [[likely]]
    return Status();
  return NeedPeers(call, executor, dst, src);
}

// Whether copies between two devices go whichever of them runs them: NeedPeers has nothing to say then.
inline bool FreeBetween(const Call& call, int device, int other) {
  const memory::Books& books = call.memory().books();
  return books.PeerEnabled(device, other) && books.PeerEnabled(other, device) &&
         books.limits().p2p_window == 0;
}

// The device that runs a synchronous copy: the current one if it takes part, else the destination's.
inline int SyncExecutor(int current, const Range& dst, const Range& src) {
  if (dst.on_device() && src.on_device() && dst.device != src.device) {
    return current == src.device || current == dst.device ? current : dst.device;
  }
  return dst.on_device() ? dst.device : src.on_device() ? src.device : current;
}

}  // namespace belay::abi
