// Dropping every task of a device: SPEC 21 §7.
#include "abi/call.h"
#include "abi/resolve.h"
#include "abi/state_callbacks.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;
using runtime::Device;

Status aclrtDeviceTaskAbort(Call& call, int32_t deviceId, uint32_t timeout) {
  constexpr uint32_t kMostMs = 36 * 60 * 1000;
  if (timeout > kMostMs) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("timeout is %u ms", timeout)
        .Rule("An abort takes at most 36 minutes; 0 is without a limit (SPEC 21 §7)")
        .Fix("pass at most 2160000")
        .End();
  }
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  std::vector<runtime::StreamObject*> streams = call.runtime().StreamsOf(*device);
  if (streams.empty()) {
    return call.Refuse(code::kContextNull, FindingId::kNoContext)
        .Say("device %d was never set in this process, or was reset", deviceId)
        .Rule("Tasks are aborted on a device that the process uses (SPEC 21 §7)")
        .Fix("call aclrtSetDevice(%d) first", deviceId)
        .End();
  }
  BELAY_TRY(NeedOtherDevice(call, *device));

  RunAbortCallbacks(call, deviceId, ACL_RT_DEVICE_TASK_ABORT_PRE, timeout);
  device->aborting.store(true);
  bool done = call.runtime().AbortTasks(
      *device, timeout == 0 ? engine::Engine::kNoDeadline : DeadlineOf(static_cast<int32_t>(timeout)));
  device->aborting.store(false);
  RunAbortCallbacks(call, deviceId, ACL_RT_DEVICE_TASK_ABORT_POST, timeout);
  if (done) return Status();
  return call.Refuse(code::kAbortTimeout, FindingId::kDeviceFault)
      .On(deviceId)
      .Say("a task of device %d did not end within %u ms", deviceId, timeout)
      .Rule("An abort that takes too long changes nothing (SPEC 21 §7)")
      .Fix("let host functions and callbacks return")
      .End();
}

}  // namespace belay::abi::body
