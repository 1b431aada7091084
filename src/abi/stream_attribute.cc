// What can be set on a stream and read back: SPEC 20 §3.2.
#include "abi/call.h"
#include "abi/resolve.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;
using facts::Cann;
using facts::Family;
using runtime::StreamObject;

namespace {
constexpr uint32_t kLowestPriority = 7;

bool Newer(Family family) {
  return family == Family::k950 || family == Family::kA3 || family == Family::kA2;
}

Status RefuseNullStream(const Call& call) {
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .Say("stream is null, and %s with version %s has no attributes of default streams",
           call.machine().product().name.c_str(), facts::CannName(call.machine().cann()))
      .Rule("The default stream is accepted on some products only (SPEC 20 §3, §3.2)")
      .Fix("pass a stream that aclrtCreateStream gave out")
      .End();
}

Status RefuseValue(const Call& call, const char* name, unsigned long long value, const char* allowed) {
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("%s is %llu", name, value)
      .Rule("A stream attribute takes documented values only (SPEC 20 §3.2)")
      .Fix("pass %s", allowed)
      .End();
}

Status NeedSwitch(const Call& call, const char* name, uint64_t value) {
  return value <= 1 ? Status() : RefuseValue(call, name, value, "0 or 1");
}

// SPEC 20 §3: once a stream; it moves the whole context to STOP.
Status SetFailureMode(const Call& call, StreamObject& stream, uint64_t mode) {
  auto wanted = static_cast<int32_t>(mode);
  int32_t before = -1;
  if (!stream.failure_mode.compare_exchange_strong(before, wanted) && before != wanted) {
    return call.Refuse(code::kRtParam, FindingId::kBadArgument)
        .On(stream.device->user, stream.id)
        .Say("the failure mode of stream %d is %d already", stream.id, before)
        .Rule("The failure mode of a stream is set once (SPEC 20 §3)")
        .Fix("set it once, right after the stream is created")
        .With("stream created", stream.created, stream.device->user, stream.id)
        .End();
  }
  if (wanted == static_cast<int32_t>(ACL_STOP_ON_FAILURE)) {
    stream.context->domain.stops_on_failure.store(true, std::memory_order_relaxed);
  }
  return Status();
}

// An attribute number: known, and known to the version.
Status NeedAttribute(const Call& call, int attribute) {
  const machine::Machine& machine = call.machine();
  if (attribute < ACL_STREAM_ATTR_FAILURE_MODE || attribute > ACL_STREAM_ATTR_PRIORITY) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("stmAttrType is %d", attribute)
        .Rule("stmAttrType is one of aclrtStreamAttr, 1 to 5 (SPEC 20 §3.2)")
        .Fix("pass one of ACL_STREAM_ATTR_*")
        .End();
  }
  bool newer = (attribute == ACL_STREAM_ATTR_CACHE_OP_INFO && machine.cann() < Cann::k85) ||
               (attribute == ACL_STREAM_ATTR_PRIORITY && machine.cann() < Cann::k91);
  if (newer) {  // observed with older runtimes; an exception to SPEC 00 rule 1
    return call.Refuse(code::kRtParam, FindingId::kUnsupported)
        .Say("attribute %d is newer than version %s", attribute, facts::CannName(machine.cann()))
        .Rule("An attribute that the version does not know answers 107000 (SPEC 20 §3.2)")
        .Fix("test for 107000, or choose a newer --cann")
        .End();
  }
  if (attribute == ACL_STREAM_ATTR_PRIORITY && !Newer(machine.family())) {
    return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
        .Say("%s has no priority attribute", machine.product().name.c_str())
        .Rule("ACL_STREAM_ATTR_PRIORITY exists on 950, A3 and A2 (SPEC 20 §3.2)")
        .Fix("set the priority when the stream is created")
        .End();
  }
  return Status();
}

bool TakesNull(const Call& call) {
  return Newer(call.machine().family());
}

bool TakesNullForFailureMode(const Call& call) {
  if (call.machine().cann() < Cann::k90) return false;
  Family family = call.machine().family();
  if (family == Family::k950) return call.machine().cann() >= Cann::k91;
  return family == Family::kA3 || family == Family::kA2;
}
}  // namespace

Status aclrtSetStreamFailureMode(Call& call, aclrtStream stream, uint64_t mode) {
  if (stream == nullptr && !TakesNullForFailureMode(call)) return RefuseNullStream(call);
  BELAY_TRY(NeedSwitch(call, "mode", mode));
  StreamObject* found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, stream, &found));
  return SetFailureMode(call, *found, mode);
}

Status aclrtSetStreamOverflowSwitch(Call& call, aclrtStream stream, uint32_t flag) {
  if (stream == nullptr && !TakesNull(call)) return RefuseNullStream(call);
  BELAY_TRY(NeedSwitch(call, "flag", flag));
  StreamObject* found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, stream, &found));
  found->overflow_switch.store(flag, std::memory_order_relaxed);
  return Status();
}

Status aclrtGetStreamOverflowSwitch(Call& call, aclrtStream stream, uint32_t* flag) {
  if (stream == nullptr && !TakesNull(call)) return RefuseNullStream(call);
  StreamObject* found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, stream, &found));
  *flag = found->overflow_switch.load(std::memory_order_relaxed);
  return Status();
}

Status aclrtSetStreamAttribute(Call& call, aclrtStream stream, aclrtStreamAttr stmAttrType,
                               aclrtStreamAttrValue* value) {
  auto attribute = static_cast<int>(stmAttrType);
  if (stream == nullptr && !TakesNull(call)) return RefuseNullStream(call);
  BELAY_TRY(NeedAttribute(call, attribute));
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      BELAY_TRY(NeedSwitch(call, "failureMode", value->failureMode));
      break;
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      BELAY_TRY(NeedSwitch(call, "overflowSwitch", value->overflowSwitch));
      break;
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      BELAY_TRY(NeedSwitch(call, "cacheOpInfoSwitch", value->cacheOpInfoSwitch));
      break;
    case ACL_STREAM_ATTR_PRIORITY:
      if (value->streamPriority > kLowestPriority) {
        return RefuseValue(call, "streamPriority", value->streamPriority, "0, the highest, to 7");
      }
      break;
    default:
      break;
  }
  StreamObject* found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, stream, &found));
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      return SetFailureMode(call, *found, value->failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      found->overflow_switch.store(value->overflowSwitch, std::memory_order_relaxed);
      return Status();
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      found->custom_tag.store(value->userCustomTag, std::memory_order_relaxed);
      return Status();
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      found->cache_op_info.store(value->cacheOpInfoSwitch, std::memory_order_relaxed);
      return Status();
    default:
      found->priority.store(value->streamPriority, std::memory_order_relaxed);
      return Status();
  }
}

Status aclrtGetStreamAttribute(Call& call, aclrtStream stream, aclrtStreamAttr stmAttrType,
                               aclrtStreamAttrValue* value) {
  auto attribute = static_cast<int>(stmAttrType);
  if (stream == nullptr && !TakesNull(call)) return RefuseNullStream(call);
  BELAY_TRY(NeedAttribute(call, attribute));
  StreamObject* found = nullptr;
  BELAY_TRY(NeedReadableStream(call, stream, &found));
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE: {
      int32_t mode = found->failure_mode.load(std::memory_order_relaxed);
      value->failureMode = mode < 0 ? uint64_t{ACL_CONTINUE_ON_FAILURE} : static_cast<uint64_t>(mode);
      break;
    }
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      value->overflowSwitch = found->overflow_switch.load(std::memory_order_relaxed);
      break;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      value->userCustomTag = found->custom_tag.load(std::memory_order_relaxed);
      break;
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      value->cacheOpInfoSwitch = found->cache_op_info.load(std::memory_order_relaxed);
      break;
    default:
      value->streamPriority = found->priority.load(std::memory_order_relaxed);
      break;
  }
  return Status();
}

}  // namespace belay::abi::body
