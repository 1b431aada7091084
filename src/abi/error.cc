// The last error and the recent messages: SPEC 11 §§2, 3.
#include <utility>

#include "abi/call.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;

namespace {
Status RefuseLevel(Call& call, aclrtLastErrLevel level) {
  // SPEC 11 §2: the variable is neither read nor set.
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("level is %d", static_cast<int>(level))
      .Rule("The only level is ACL_RT_THREAD_LEVEL, 0 (SPEC 11 §2)")
      .Fix("pass ACL_RT_THREAD_LEVEL")
      .Benign()
      .End();
}
}  // namespace

Status aclrtGetLastError(Call& call, aclrtLastErrLevel level) {
  if (level != ACL_RT_THREAD_LEVEL) return RefuseLevel(call, level);
  return Status(std::exchange(call.thread().last_error, 0));
}

Status aclrtPeekAtLastError(Call& call, aclrtLastErrLevel level) {
  if (level != ACL_RT_THREAD_LEVEL) return RefuseLevel(call, level);
  return Status(call.thread().last_error);
}

const char* aclGetRecentErrMsg(Call& call) {
  return call.runtime().TakeMessages(call.thread());
}

}  // namespace belay::abi::body
