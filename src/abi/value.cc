// Words of device memory that streams write and wait for: SPEC 34 §5.
#include "abi/call.h"
#include "abi/copy_check.h"
#include "abi/ranges.h"
#include "abi/resolve.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;
using runtime::StreamObject;

namespace {
Status RefuseFlag(const Call& call, uint32_t flag, const char* allowed) {
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("flag is %u", flag)
      .Rule("A write takes flag 0; a wait takes a condition from 0 to 3 (SPEC 34 §5)")
      .Fix("pass %s", allowed)
      .End();
}

// The device address of registered host memory names a word that the program writes without a call.
bool FindMapped(const Call& call, const void* address, Range* range) {
  memory::HostMemory::Registration found;
  auto alias = reinterpret_cast<uintptr_t>(address);
  if (!call.memory().host().FindAlias(alias, &found)) return false;
  *range = Locate(call, reinterpret_cast<const void*>(found.start + (alias - found.alias)));
  range->memory = nullptr;
  range->block = nullptr;
  return true;
}

// The word and the stream of a task.
Status NeedWord(const Call& call, void* address, aclrtStream stream, Range* range, StreamObject** on,
                bool* polls) {
  BELAY_TRY(NeedCurrentStream(call, stream, on));
  if (reinterpret_cast<uintptr_t>(address) % sizeof(uint64_t) != 0) {
    return call.Refuse(code::kAlignment, FindingId::kBadArgument)
        .Say("devAddr %p is no multiple of 8", address)
        .Rule("The word of a value task is aligned to its 8 bytes (SPEC 34 §5)")
        .Fix("pass an aligned address inside memory from aclrtMalloc")
        .End();
  }
  BELAY_TRY(NeedStreamToSubmit(call, stream, on));
  *polls = FindMapped(call, address, range);
  if (*polls) return Status();
  BELAY_TRY(NeedDeviceRange(call, address, sizeof(uint64_t), "devAddr", range));
  return NeedReach(call, (*on)->device->logical, *range, Range());
}

Status SubmitValue(const Call& call, StreamObject& stream, engine::OpKind kind, const Range& range,
                   uint64_t value, engine::WordCondition condition, bool polls) {
  engine::Op op = SignedOp(call);
  op.kind = kind;
  op.value = {range.bytes, SideOf(range), value, condition, polls};
  call.engine().Submit(*stream.stream, op, sizeof(uint64_t));
  return Submitted(call, op);
}
}  // namespace

Status aclrtValueWrite(Call& call, void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  if (flag != 0) return RefuseFlag(call, flag, "0");
  Range range;
  StreamObject* on = nullptr;
  bool polls = false;
  BELAY_TRY(NeedWord(call, devAddr, stream, &range, &on, &polls));
  return SubmitValue(call, *on, engine::OpKind::kValueWrite, range, value, engine::WordCondition::kEqual,
                     false);
}

Status aclrtValueWait(Call& call, void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  if (flag > ACL_STREAM_WAIT_VALUE_NOR) return RefuseFlag(call, flag, "one of ACL_STREAM_WAIT_VALUE_*");
  Range range;
  StreamObject* on = nullptr;
  bool polls = false;
  BELAY_TRY(NeedWord(call, devAddr, stream, &range, &on, &polls));
  return SubmitValue(call, *on, engine::OpKind::kValueWait, range, value,
                     static_cast<engine::WordCondition>(flag), polls);
}

}  // namespace belay::abi::body
