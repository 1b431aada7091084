#include "abi/resolve.h"

#include <algorithm>

#include "abi/default_device.h"

namespace belay::abi {
namespace {
using check::FindingId;
using runtime::Context;
using runtime::Device;
using runtime::EventObject;
using runtime::StreamObject;

[[gnu::cold]] Status BadHandle(const Call& call, const char* what, const void* handle,
                               const runtime::Moment* created, const runtime::Moment* destroyed, int device) {
  Refusal refusal = call.Refuse(code::kHandle, FindingId::kBadHandle);
  if (destroyed != nullptr) {
    refusal.Say("%s %p was destroyed", what, handle)
        .Fix("do not use the %s after it was destroyed; create a new one", what)
        .With("created", *created, device)
        .With("destroyed", *destroyed, device);
  } else {
    refusal.Say("%p is no %s of this process", handle, what)
        .Fix("pass a value that the matching create call of this process gave out");
  }
  return refusal.Rule("A handle names a live object of its own kind (SPEC 00 rule 1)").End();
}

[[gnu::cold]] Status ForeignStream(const Call& call, const Context& current, const StreamObject& stream) {
  const Device& owner = *stream.device;
  Refusal refusal = call.Refuse(code::kStreamContext, FindingId::kWrongContext);
  refusal.On(current.device->user, stream.id);
  if (owner.user != current.device->user) {
    refusal.Say("stream %p belongs to device %d, but device %d is current in this thread", stream.handle,
                owner.user, current.device->user);
  } else {
    refusal.Say("stream %p belongs to another context of device %d than the current one", stream.handle,
                owner.user);
  }
  refusal.Rule("A stream may be used only while the context that it was created in is current (SPEC 20 §2)")
      .With("stream created", stream.created, owner.user, stream.id)
      .With("current context bound", call.thread().bound, current.device->user);
  if (stream.context->is_primary) {
    refusal.Fix("call aclrtSetDevice(%d) before %s", owner.user, call.name());
  } else {
    refusal.Fix("call aclrtSetCurrentContext with the stream's context before %s", call.name());
  }
  return refusal.End();
}
}  // namespace

Status NoContext(const Call& call) {
  const runtime::ThreadState& thread = call.thread();
  Refusal refusal = call.Refuse(code::kContextNull, FindingId::kNoContext);
  if (thread.context != nullptr) {
    const Context& dead = *thread.context;
    refusal
        .Say("the context that thread %u had bound is gone: %s", thread.id,
             dead.is_primary ? "its device was reset" : "it was destroyed")
        .With("bound", thread.bound, dead.device->user)
        .With(dead.is_primary ? "reset" : "destroyed", dead.destroyed, dead.device->user);
  } else {
    refusal.Say("thread %u bound no device or context", thread.id);
    runtime::Runtime::LastBinding last = call.runtime().last_binding();
    if (last.device >= 0) {
      refusal.Say("; thread %u bound device %d", last.by.thread, last.device)
          .With("bound in another thread", last.by, last.device);
    }
  }
  return refusal
      .Rule("The current context belongs to one thread and is not inherited by others (SPEC 10 §6.2)")
      .Fix("call aclrtSetDevice or aclrtSetCurrentContext in this thread before %s", call.name())
      .End();
}

Status NeedContext(const Call& call, Context** context) {
  *context = call.context();
  if (*context != nullptr) [[likely]]
    return Status();
  BELAY_TRY(BindDefaultDevice(call, context));
  return *context != nullptr ? Status() : NoContext(call);
}

[[gnu::cold]] static Status BadDevice(const Call& call, int64_t id, const char* parameter) {
  const runtime::Runtime& runtime = call.runtime();
  const long long number = id;
  Refusal refusal = call.Refuse(code::kDeviceId, FindingId::kBadArgument);
  refusal
      .Say("%s is %lld, but the devices of this process are 0 to %d", parameter, number,
           runtime.device_count() - 1)
      .Rule(
          "A device id is an index into the visible devices, from 0 to the device count - 1 (SPEC 10 §3.1)");
  const std::vector<int>& visible = runtime.visibility().logical;
  auto logical = std::find(visible.begin(), visible.end(), id);
  if (!runtime.visibility().reason.empty()) refusal.Say("; %s", runtime.visibility().reason.c_str());
  if (logical != visible.end()) {
    refusal
        .Say("; %lld is the logical id of the device that ASCEND_RT_VISIBLE_DEVICES makes number %d", number,
             static_cast<int>(logical - visible.begin()))
        .Fix("pass %d instead of %lld", static_cast<int>(logical - visible.begin()), number);
  } else {
    refusal.Fix(
        "ask aclrtGetDeviceCount first; more devices: --devices N, or correct ASCEND_RT_VISIBLE_DEVICES");
  }
  return refusal.End();
}

Status NeedDevice(const Call& call, int64_t id, const char* parameter, Device** device) {
  if (id < 0 || id >= call.runtime().device_count()) [[unlikely]]
    return BadDevice(call, id, parameter);
  *device = &call.runtime().device(id);
  return Status();
}

Status NeedAnyStream(const Call& call, Context& context, const void* handle, StreamObject** stream) {
  if (handle == nullptr) {
    *stream = context.default_stream;
    return Status();
  }
  *stream = call.runtime().FindStream(handle);
  if (*stream != nullptr) [[likely]]
    return Status();
  const StreamObject* dead = call.runtime().FindDeadStream(handle);
  return BadHandle(call, "stream", handle, dead != nullptr ? &dead->created : nullptr,
                   dead != nullptr ? &dead->destroyed : nullptr, dead != nullptr ? dead->device->user : -1);
}

Status NeedStream(const Call& call, Context& context, const void* handle, StreamObject** stream) {
  BELAY_TRY(NeedAnyStream(call, context, handle, stream));
  if ((*stream)->context != &context) [[unlikely]]
    return ForeignStream(call, context, **stream);
  return Status();
}

Status NeedCurrentStream(const Call& call, const void* handle, StreamObject** stream) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  return NeedStream(call, *context, handle, stream);
}

Status NeedReadableStream(const Call& call, const void* handle, StreamObject** stream) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  return NeedAnyStream(call, *context, handle, stream);
}

Status NeedEvent(const Call& call, const void* handle, EventObject** event) {
  if (handle == nullptr) [[unlikely]] {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("event is null")
        .Rule("A required handle must not be null (SPEC 20 §0.1)")
        .Fix("pass an event that aclrtCreateEvent gave out")
        .End();
  }
  *event = call.runtime().FindEvent(handle);
  if (*event != nullptr) [[likely]]
    return Status();
  const EventObject* dead = call.runtime().FindDeadEvent(handle);
  return BadHandle(call, "event", handle, dead != nullptr ? &dead->created : nullptr,
                   dead != nullptr ? &dead->destroyed : nullptr, dead != nullptr ? dead->device->user : -1);
}

}  // namespace belay::abi
