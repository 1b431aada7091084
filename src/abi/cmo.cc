// Cache maintenance in streams: SPEC 34 §4.
#include <cinttypes>

#include "abi/call.h"
#include "abi/ranges.h"
#include "abi/resolve.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi {
namespace {
using check::FindingId;
using runtime::StreamObject;

Status RefuseSize(const Call& call) {
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("size is 0")
      .Rule("A cache operation covers at least one byte (SPEC 34 §4)")
      .Fix("leave the call out when there is nothing to cover")
      .End();
}

Status RefuseType(const Call& call, int type) {
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("cmoType is %d", type)
      .Rule("cmoType is one of aclrtCmoType, 0 to 3 (SPEC 34 §4)")
      .Fix("pass an ACL_RT_CMO_TYPE_ value")
      .End();
}

// The range lies in one block of the stream's device.
Status NeedOwnRange(const Call& call, const void* src, size_t size, const StreamObject& stream,
                    Range* range) {
  BELAY_TRY(NeedDeviceRange(call, src, size, "src", range));
  if (range->device == stream.device->logical) return Status();
  int owner = call.runtime().UserId(range->device);
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .On(stream.device->user, stream.id)
      .Say("src %p is memory of device %d, stream %d belongs to device %d", src, owner, stream.id,
           stream.device->user)
      .Rule("A cache operation is on memory of its stream's device (SPEC 34 §4)")
      .Fix("pass a stream of device %d", owner)
      .With("allocated", AllocatedAt(*range->block), owner)
      .End();
}

// Nothing binds streams to models yet, so that every stream meets it.
Status RefuseUnbound(const Call& call, const StreamObject& stream) {
  return call.Refuse(code::kStreamModel, FindingId::kBadArgument)
      .On(stream.device->user, stream.id)
      .Say("stream %d is bound to no model", stream.id)
      .Rule("Cache operations with barriers are tasks of a model (SPEC 34 §4)")
      .Fix("bind the stream with aclmdlRIBindStream first")
      .With("stream created", stream.created, stream.device->user, stream.id)
      .End();
}
}  // namespace

namespace body {

Status aclrtCmoAsync(Call& call, void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  auto type = static_cast<int>(cmoType);
  if (type > ACL_RT_CMO_TYPE_PREFETCH && type <= ACL_RT_CMO_TYPE_FLUSH) {
    return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
        .Say("cmoType is %d", type)
        .Rule("The only supported operation is ACL_RT_CMO_TYPE_PREFETCH (SPEC 34 §4)")
        .Fix("leave the call out: the caches are kept coherent without it")
        .End();
  }
  if (type != ACL_RT_CMO_TYPE_PREFETCH) return RefuseType(call, type);
  if (size == 0) return RefuseSize(call);
  StreamObject* found = nullptr;
  BELAY_TRY(NeedStreamToSubmit(call, stream, &found));
  Range range;
  BELAY_TRY(NeedOwnRange(call, src, size, *found, &range));
  engine::Op op = SignedOp(call);
  op.kind = engine::OpKind::kPrefetch;
  op.prefetch = {SideOf(range)};
  call.engine().Submit(*found->stream, op, 0);
  return Submitted(call, op);
}

Status aclrtCmoAsyncWithBarrier(Call& call, void* src, size_t size, aclrtCmoType cmoType, uint32_t barrierId,
                                aclrtStream stream) {
  auto type = static_cast<int>(cmoType);
  if (type < ACL_RT_CMO_TYPE_PREFETCH || type > ACL_RT_CMO_TYPE_FLUSH) return RefuseType(call, type);
  if (size == 0) return RefuseSize(call);
  if (barrierId != 0 && type != ACL_RT_CMO_TYPE_INVALID) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("barrierId is %u and cmoType is %d", barrierId, type)
        .Rule("Only ACL_RT_CMO_TYPE_INVALID has a barrier (SPEC 34 §4)")
        .Fix("pass 0 as barrierId")
        .End();
  }
  StreamObject* found = nullptr;
  Range range;
  BELAY_TRY(NeedStreamToSubmit(call, stream, &found));
  BELAY_TRY(NeedOwnRange(call, src, size, *found, &range));
  return RefuseUnbound(call, *found);
}

Status aclrtCmoWaitBarrier(Call& call, aclrtBarrierTaskInfo* taskInfo, aclrtStream stream, uint32_t flag) {
  if (flag != 0 || taskInfo->barrierNum == 0 || taskInfo->barrierNum > ACL_RT_CMO_MAX_BARRIER_NUM) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("flag is %u and taskInfo->barrierNum is %zu", flag, taskInfo->barrierNum)
        .Rule("flag is reserved and 0, and a wait is for 1 to 6 barriers (SPEC 34 §4)")
        .Fix("pass 0 as flag, and the number of entries in cmoInfo")
        .End();
  }
  for (size_t i = 0; i < taskInfo->barrierNum; ++i) {
    if (taskInfo->cmoInfo[i].cmoType == ACL_RT_CMO_TYPE_INVALID) continue;
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("taskInfo->cmoInfo[%zu].cmoType is %d", i, static_cast<int>(taskInfo->cmoInfo[i].cmoType))
        .Rule("Only ACL_RT_CMO_TYPE_INVALID has a barrier (SPEC 34 §4)")
        .Fix("pass ACL_RT_CMO_TYPE_INVALID")
        .End();
  }
  StreamObject* found = nullptr;
  BELAY_TRY(NeedStreamToSubmit(call, stream, &found));
  return RefuseUnbound(call, *found);
}

}  // namespace body
}  // namespace belay::abi
