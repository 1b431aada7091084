// Streams: SPEC 20 §§2, 3.
#include <algorithm>

#include "abi/call.h"
#include "abi/resolve.h"
#include "abi/state_callbacks.h"
#include "abi/subscription.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;
using runtime::Context;
using runtime::StreamObject;

namespace {
constexpr uint32_t kLowestPriority = 7;
constexpr uint32_t kKnownFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_PERSISTENT |
                                 ACL_STREAM_HUGE | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;

Status Create(Call& call, aclrtStream* stream, uint32_t priority, uint32_t flags) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  BELAY_TRY(NeedWhole(call, *context->device));
  StreamObject* created = call.runtime().CreateStream(*context, priority, flags, call.now());
  if (created != nullptr) {
    *stream = created->handle;
    RunStreamCallbacks(call, *created, ACL_RT_STREAM_STATE_CREATE_POST);
    return Status();
  }
  const runtime::Device& device = *context->device;
  Refusal refusal = call.Refuse(call.machine().quirks().stream_exhaust_code, FindingId::kResourceExhausted);
  refusal
      .Say("device %d has no stream left: this process holds all %u", device.user,
           call.memory().books().limits().streams)
      .Rule("Streams per device are limited; default streams count (SPEC 20 §2.1)")
      .Fix("destroy streams that are no longer used, or share streams");
  if (!context->streams.empty()) {
    refusal.With("latest stream of this context created", context->streams.back()->created, device.user,
                 context->streams.back()->id);
  }
  return refusal.End();
}

// SPEC 20 §3.1
Status NeedFlags(const Call& call, uint32_t flag) {
  const machine::Machine& machine = call.machine();
  if ((flag & ACL_STREAM_DEVICE_USE_ONLY) != 0) {
    facts::Family family = machine.family();
    if (family != facts::Family::k950 && family != facts::Family::kA3 && family != facts::Family::kA2) {
      return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
          .Say("flag 0x%x asks for a stream that only the device drives, which %s does not have", flag,
               machine.product().name.c_str())
          .Rule("ACL_STREAM_DEVICE_USE_ONLY exists on 950, A3 and A2 (SPEC 20 §3.1)")
          .Fix("create the stream without it")
          .End();
    }
    if (flag != ACL_STREAM_DEVICE_USE_ONLY) {
      return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
          .Say("flag is 0x%x", flag)
          .Rule("ACL_STREAM_DEVICE_USE_ONLY stands alone (SPEC 20 §3.1)")
          .Fix("pass ACL_STREAM_DEVICE_USE_ONLY without other flags, or the others without it")
          .End();
    }
  }
  if ((flag & ~kKnownFlags) != 0) {
    call.Note(FindingId::kVersionDependent)
        .Say("flag 0x%x has bits that are not documented; they are ignored", flag)
        .Rule("Unknown stream flags behave like none (SPEC 20 §3.1)")
        .Fix("pass ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_SYNC or 0")
        .Send();
  }
  return Status();
}

// A stream of the current context that the program created itself.
Status NeedExplicitStream(const Call& call, aclrtStream handle, StreamObject** stream) {
  constexpr char kRule[] = "The default stream goes with its context and cannot be destroyed (SPEC 20 §2)";
  if (handle == nullptr) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("stream is null")
        .Rule(kRule)
        .Fix("pass a stream that aclrtCreateStream gave out")
        .End();
  }
  BELAY_TRY(NeedCurrentStream(call, handle, stream));
  if (!(*stream)->is_default) return Status();
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .Say("stream %p is the default stream of its context", handle)
      .Rule(kRule)
      .Fix("reset the device or destroy the context instead")
      .End();
}

// What priority a created stream has (SPEC 20 §3.1): clamped where it is used, stored as 0 where it is
// reserved.
uint32_t EffectivePriority(const machine::Machine& machine, uint32_t priority) {
  bool used = machine.cann() >= facts::Cann::k91 || machine.family() == facts::Family::kInf;
  return used ? std::min(priority, kLowestPriority) : 0;
}
}  // namespace

Status aclrtCreateStream(Call& call, aclrtStream* stream) {
  return Create(call, stream, 0, 0);
}

Status aclrtCreateStreamWithConfig(Call& call, aclrtStream* stream, uint32_t priority, uint32_t flag) {
  const machine::Machine& machine = call.machine();
  bool same_as_plain = machine.family() == facts::Family::k200I;  // SPEC 20 §3.1
  if (same_as_plain) return Create(call, stream, 0, 0);
  BELAY_TRY(NeedFlags(call, flag));
  if (machine.cann() == facts::Cann::k85 && machine.family() == facts::Family::kInf &&
      priority > kLowestPriority) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("priority is %u", priority)
        .Rule("Priorities go from 0, the highest, to 7 (SPEC 20 §3.1)")
        .Fix("pass a priority from 0 to 7")
        .End();
  }
  return Create(call, stream, EffectivePriority(machine, priority), flag & kKnownFlags);
}

Status aclrtDestroyStream(Call& call, aclrtStream stream) {
  StreamObject* found = nullptr;
  BELAY_TRY(NeedExplicitStream(call, stream, &found));
  BELAY_TRY(NeedOtherStream(call, found->stream, nullptr));
  NoteSubscribed(call, *found);
  RunStreamCallbacks(call, *found, ACL_RT_STREAM_STATE_DESTROY_PRE);
  if (found->stopped.load(std::memory_order_relaxed)) {
    call.runtime().DestroyStreamForce(*found, call.now());
  } else {
    call.thread().waiting = call.now();
    call.runtime().DestroyStream(*found, call.now());
  }
  return Status();
}

Status aclrtDestroyStreamForce(Call& call, aclrtStream stream) {
  StreamObject* found = nullptr;
  BELAY_TRY(NeedExplicitStream(call, stream, &found));
  BELAY_TRY(NeedOtherStream(call, found->stream, nullptr));
  NoteSubscribed(call, *found);
  RunStreamCallbacks(call, *found, ACL_RT_STREAM_STATE_DESTROY_PRE);
  call.runtime().DestroyStreamForce(*found, call.now());
  return Status();
}

Status aclrtSynchronizeStream(Call& call, aclrtStream stream) {
  StreamObject* found = nullptr;
  BELAY_TRY(NeedStreamToWaitFor(call, stream, &found));
  return SynchronizeStream(call, *found, -1);
}

Status aclrtSynchronizeStreamWithTimeout(Call& call, aclrtStream stream, int32_t timeout) {
  BELAY_TRY(NeedTimeout(call, timeout));
  StreamObject* found = nullptr;
  BELAY_TRY(NeedStreamToWaitFor(call, stream, &found));
  return SynchronizeStream(call, *found, timeout);
}

Status aclrtStreamQuery(Call& call, aclrtStream stream, aclrtStreamStatus* status) {
  StreamObject* found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, stream, &found));
  BELAY_TRY(NeedWorking(call, *found));
  bool complete = call.engine().Query(*found->stream);
  BELAY_TRY(ReportFailure(call, *found->stream, found->stream->submitted()));
  *status = complete ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return Status();
}

Status aclrtStreamGetId(Call& call, aclrtStream stream, int32_t* streamId) {
  StreamObject* found = nullptr;
  BELAY_TRY(NeedReadableStream(call, stream, &found));
  *streamId = found->id;
  return Status();
}

Status aclrtGetStreamAvailableNum(Call& call, uint32_t* streamCount) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  const memory::Books& books = call.memory().books();
  *streamCount = books.limits().streams - books.streams(context->device->logical);
  return Status();
}

Status aclrtStreamGetPriority(Call& call, aclrtStream stream, uint32_t* priority) {
  StreamObject* found = nullptr;
  BELAY_TRY(NeedReadableStream(call, stream, &found));
  *priority = found->priority;
  return Status();
}

Status aclrtStreamGetFlags(Call& call, aclrtStream stream, uint32_t* flags) {
  StreamObject* found = nullptr;
  BELAY_TRY(NeedReadableStream(call, stream, &found));
  *flags = found->flags;
  return Status();
}

}  // namespace belay::abi::body
