// Devices and contexts: SPEC 10 §§3.3, 3.4, 4 and 6.
#include <atomic>

#include "abi/call.h"
#include "abi/default_device.h"
#include "abi/fault.h"
#include "abi/resolve.h"
#include "abi/state_callbacks.h"
#include "abi/subscription.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;
using runtime::Context;
using runtime::Device;
using runtime::Runtime;

namespace {
// SPEC 10 §3.2: each entry that counts for nothing is named, also when the call works.
void NoteVisibility(const Call& call) {
  const machine::Visibility& visibility = call.runtime().visibility();
  static std::atomic<bool> said{false};
  if (visibility.dropped.empty() || visibility.logical.empty() ||
      said.exchange(true, std::memory_order_relaxed))
    return;
  call.Note(FindingId::kBadArgument)
      .As(check::Severity::kWarning)
      .Say("\"%s\" at the end of ASCEND_RT_VISIBLE_DEVICES counts for nothing, so %d devices are visible: %s",
           visibility.dropped.c_str(), call.runtime().device_count(), visibility.reason.c_str())
      .Rule("The list is cut at the first entry that is no device of this machine (SPEC 10 §3.2)")
      .Fix("list logical ids that exist, in ascending order, separated by commas without blanks")
      .Send();
}

// SPEC 10 §4.3
void NoteExplicitContext(const Call& call, const Device& device) {
  if (!call.runtime().default_device() || call.runtime().PrimaryActive(device)) return;
  call.Note(FindingId::kVersionDependent)
      .On(device.user)
      .Say("a context is created on device %d without aclrtSetDevice, while a default device is configured",
           device.user)
      .Rule("With a default device, who creates contexts also sets the device (SPEC 10 §4.3)")
      .Fix("call aclrtSetDevice(%d) before %s", device.user, call.name())
      .Send();
}

// SPEC 10 §2.4: works, and is said once in a process.
void NoteBeforeInit(const Call& call) {
  static std::atomic<bool> said{false};
  if (call.runtime().initialised() || said.exchange(true, std::memory_order_relaxed)) return;
  call.Note(FindingId::kVersionDependent)
      .Say("%s was called before aclInit", call.name())
      .Rule("Runtime calls work before aclInit, but applications call it first (SPEC 10 §1, §2.4)")
      .Fix("call aclInit(nullptr) at the start of the program")
      .Send();
}

Status Set(Call& call, int32_t deviceId) {
  Device* device = nullptr;
  NoteVisibility(call);
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  NoteBeforeInit(call);
  call.runtime().NoteFirstCall(call.now());
  RunDeviceCallbacks(call, deviceId, ACL_RT_DEVICE_STATE_SET_PRE);
  bool opens = !call.runtime().PrimaryActive(*device);
  if (call.runtime().SetDevice(*device, call.thread(), call.now()) == Runtime::OpenResult::kNoStream) {
    return RefuseNoDefaultStream(call, *device);
  }
  call.runtime().NoteBinding(deviceId, call.now());
  if (opens) RunStreamCallbacks(call, *call.context()->default_stream, ACL_RT_STREAM_STATE_CREATE_POST);
  RunDeviceCallbacks(call, deviceId, ACL_RT_DEVICE_STATE_SET_POST);
  return Status();
}

// SPEC 10 §4.2: the documented order is streams, contexts, reset.
void NoteLeftovers(const Call& call, const Device& device, const Runtime::Leftovers& left) {
  if (left.streams == 0 && left.contexts == 0) return;
  call.Note(FindingId::kTeardownOrder)
      .On(device.user)
      .Say("device %d was reset while %zu streams and %zu contexts of this process still existed on it",
           device.user, left.streams, left.contexts)
      .Rule("Streams are destroyed first, then contexts, then the device is reset (SPEC 10 §4.2)")
      .Fix("call aclrtDestroyStream and aclrtDestroyContext before %s", call.name())
      .With("one of them created", left.example, device.user)
      .Send();
}

Status Reset(Call& call, int32_t deviceId, bool force) {
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  BELAY_TRY(NeedOtherDevice(call, *device));
  RunDeviceCallbacks(call, deviceId, ACL_RT_DEVICE_STATE_RESET_PRE);
  if (call.runtime().WouldRelease(*device, force)) {
    for (runtime::StreamObject* stream : call.runtime().StreamsOf(*device)) {
      NoteSubscribed(call, *stream);
      RunStreamCallbacks(call, *stream, ACL_RT_STREAM_STATE_DESTROY_PRE);
    }
  }
  Runtime::Leftovers left;
  call.thread().waiting = call.now();
  Runtime::ResetResult result = call.runtime().ResetDevice(*device, force, call.now(), &left);
  if (result != Runtime::ResetResult::kNotSet) {
    if (result == Runtime::ResetResult::kReleased) NoteLeftovers(call, *device, left);
    if (force) ForgetFault(*device);
    RunDeviceCallbacks(call, deviceId, ACL_RT_DEVICE_STATE_RESET_POST);
    return Status();
  }
  // SPEC 10 §4.2
  Refusal refusal = call.Refuse(code::kContextRelease, FindingId::kBadArgument);
  refusal.On(deviceId).Rule(
      "A device is reset at most as often as it was set, and not after a forced reset (SPEC 10 §4.2)");
  if (device->released.api != nullptr) {
    refusal.Say("device %d was released already", deviceId)
        .With("released", device->released, deviceId)
        .Fix("pair every reset with one aclrtSetDevice(%d)", deviceId);
  } else {
    refusal.Say("device %d was never set in this process", deviceId)
        .Fix("call aclrtSetDevice(%d) first", deviceId);
  }
  return refusal.End();
}
}  // namespace

Status aclrtGetDeviceCount(Call& call, uint32_t* count) {
  *count = static_cast<uint32_t>(call.runtime().device_count());
  NoteVisibility(call);
  if (*count != 0) return Status();
  return call.Refuse(code::kNoDevice, FindingId::kBadArgument)
      .Say("no device is visible: %s", call.runtime().visibility().reason.c_str())
      .Rule(
          "ASCEND_RT_VISIBLE_DEVICES lists logical ids in ascending order, separated by commas (SPEC 10 "
          "§3.2)")
      .Fix("unset ASCEND_RT_VISIBLE_DEVICES or correct the list")
      .End();
}

const char* aclrtGetSocName(Call& call) {
  return call.machine().soc_name();
}

Status aclrtGetRunMode(Call&, aclrtRunMode* runMode) {
  *runMode = ACL_HOST;  // SPEC 10 §3.4
  return Status();
}

Status aclrtSetDevice(Call& call, int32_t deviceId) {
  return Set(call, deviceId);
}
Status aclrtSetDeviceWithoutTsdVXX(Call& call, int32_t deviceId) {
  return Set(call, deviceId);
}
Status aclrtResetDevice(Call& call, int32_t deviceId) {
  return Reset(call, deviceId, false);
}
Status aclrtResetDeviceForce(Call& call, int32_t deviceId) {
  return Reset(call, deviceId, true);
}

Status aclrtGetDevice(Call& call, int32_t* deviceId) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  *deviceId = context->device->user;
  return Status();
}

Status aclrtSynchronizeDevice(Call& call) {
  return SynchronizeDevice(call, -1);
}
Status aclrtSynchronizeDeviceWithTimeout(Call& call, int32_t timeout) {
  BELAY_TRY(NeedTimeout(call, timeout));
  return SynchronizeDevice(call, timeout);
}

// --- Contexts

namespace {
Status FindContext(const Call& call, aclrtContext handle, Context** context) {
  if (handle == nullptr) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("context is null")
        .Rule("A required handle must not be null (SPEC 10 §6.3)")
        .Fix("pass a context that aclrtCreateContext or aclrtGetCurrentContext gave out")
        .End();
  }
  *context = call.runtime().FindContext(handle);
  if (*context != nullptr) return Status();
  Refusal refusal = call.Refuse(code::kHandle, FindingId::kBadHandle);
  refusal.Rule("A dead context never becomes valid again (SPEC 10 §6.3)");
  const Context* dead = call.runtime().FindDeadContext(handle);
  if (dead != nullptr) {
    refusal
        .Say("context %p is gone: %s", handle, dead->is_primary ? "its device was reset" : "it was destroyed")
        .With("created", dead->created, dead->device->user)
        .With(dead->is_primary ? "reset" : "destroyed", dead->destroyed, dead->device->user)
        .Fix("call aclrtSetDevice(%d) for a new default context", dead->device->user);
  } else {
    refusal.Say("%p is no context of this process", handle)
        .Fix("pass a value that aclrtCreateContext or aclrtGetCurrentContext gave out");
  }
  return refusal.End();
}
}  // namespace

Status aclrtCreateContext(Call& call, aclrtContext* context, int32_t deviceId) {
  Device* device = nullptr;
  NoteVisibility(call);
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  NoteBeforeInit(call);
  call.runtime().NoteFirstCall(call.now());
  BELAY_TRY(NeedWhole(call, *device));
  NoteExplicitContext(call, *device);
  Context* created = call.runtime().CreateContext(*device, call.now());
  if (created == nullptr) return RefuseNoDefaultStream(call, *device);
  RunStreamCallbacks(call, *created->default_stream, ACL_RT_STREAM_STATE_CREATE_POST);
  call.thread().Bind(created, call.now());
  call.runtime().NoteBinding(deviceId, call.now());
  *context = created->handle;
  return Status();
}

Status aclrtDestroyContext(Call& call, aclrtContext context) {
  Context* found = nullptr;
  BELAY_TRY(FindContext(call, context, &found));
  if (found->is_primary) {
    return call.Refuse(code::kRtParam, FindingId::kBadArgument)
        .Say("context %p is the default context of device %d", context, found->device->user)
        .Rule(
            "Only contexts from aclrtCreateContext are destroyed; a default context goes with its device "
            "(SPEC 10 §6.1)")
        .Fix("call aclrtResetDevice(%d) instead", found->device->user)
        .With("created", found->created, found->device->user)
        .End();
  }
  size_t left_behind = call.runtime().StreamsOf(*found).size() - 1;
  if (left_behind != 0) {
    call.Note(FindingId::kTeardownOrder)
        .Say("context %p is destroyed with %zu of its streams", context, left_behind)
        .Rule("Streams are destroyed before their context (SPEC 10 §6.3)")
        .Fix("call aclrtDestroyStream for each stream first")
        .With("created", found->created, found->device->user)
        .Send();
  }
  for (runtime::StreamObject* stream : call.runtime().StreamsOf(*found)) {
    BELAY_TRY(NeedOtherStream(call, stream->stream, nullptr));
    NoteSubscribed(call, *stream);
    RunStreamCallbacks(call, *stream, ACL_RT_STREAM_STATE_DESTROY_PRE);
  }
  call.thread().waiting = call.now();
  call.runtime().DestroyContext(*found, call.now());
  return Status();
}

Status aclrtSetCurrentContext(Call& call, aclrtContext context) {
  Context* found = nullptr;
  BELAY_TRY(FindContext(call, context, &found));
  call.thread().Bind(found, call.now());
  call.runtime().NoteBinding(found->device->user, call.now());
  return Status();
}

Status aclrtGetCurrentContext(Call& call, aclrtContext* context) {
  Context* current = nullptr;
  BELAY_TRY(NeedContext(call, &current));
  *context = current->handle;
  return Status();
}

Status aclrtCtxGetCurrentDefaultStream(Call& call, aclrtStream* stream) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  *stream = context->default_stream->handle;
  return Status();
}

Status aclrtGetPrimaryCtxState(Call& call, int32_t deviceId, uint32_t* flags, int32_t* active) {
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  if (flags != nullptr) *flags = 0;
  *active = call.runtime().PrimaryActive(*device) ? 1 : 0;
  return Status();
}

}  // namespace belay::abi::body
