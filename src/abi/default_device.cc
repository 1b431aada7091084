#include "abi/default_device.h"

#include "abi/resolve.h"
#include "abi/state_callbacks.h"

namespace belay::abi {
using check::FindingId;
using runtime::Runtime;

Status BindDefaultDevice(const Call& call, runtime::Context** context) {
  *context = nullptr;
  const std::optional<int64_t> id = call.runtime().default_device();
  if (!id) return Status();
  runtime::Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, *id, "default_device of aclInit's configuration", &device));
  const bool opens = !call.runtime().PrimaryActive(*device);
  RunDeviceCallbacks(call, device->user, ACL_RT_DEVICE_STATE_SET_PRE);
  if (call.runtime().BindDefault(*device, call.thread(), call.now()) == Runtime::OpenResult::kNoStream)
    return RefuseNoDefaultStream(call, *device);
  call.runtime().NoteBinding(device->user, call.now());
  *context = call.context();
  if (opens) RunStreamCallbacks(call, *(*context)->default_stream, ACL_RT_STREAM_STATE_CREATE_POST);
  RunDeviceCallbacks(call, device->user, ACL_RT_DEVICE_STATE_SET_POST);
  return Status();
}

Status RefuseNoDefaultStream(const Call& call, const runtime::Device& device) {
  return call.Refuse(call.machine().quirks().stream_exhaust_code, FindingId::kResourceExhausted)
      .On(device.user)
      .Say("device %d has no stream left for a default stream: %u of %u are in use by this process",
           device.user, call.memory().books().streams(device.logical), call.memory().books().limits().streams)
      .Rule("Every context has a default stream, and streams per device are limited (SPEC 20 §2.1)")
      .Fix("destroy streams or contexts that are no longer used")
      .End();
}

}  // namespace belay::abi
