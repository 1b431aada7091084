// Cache maintenance in streams: SPEC 34 §4.
#include <cinttypes>

#include "abi/call.h"
#include "abi/copy_check.h"
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

constexpr char kOwnMemory[] = "A cache operation is on memory of its stream's device (SPEC 34 §4)";
constexpr char kInModels[] = "Cache operations with barriers are tasks of a model (SPEC 34 §4)";
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
  BELAY_TRY(NeedRangeOfStream(call, *found, src, size, "src", kOwnMemory, &range));
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
  BELAY_TRY(NeedRangeOfStream(call, *found, src, size, "src", kOwnMemory, &range));
  return RefuseUnbound(call, *found, kInModels);
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
  return RefuseUnbound(call, *found, kInModels);
}

}  // namespace body
}  // namespace belay::abi
