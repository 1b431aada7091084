// include/belay/control.h: a test holds streams, lands tasks and injects faults.
//
// These functions are not part of AscendCL, so they have no row in the fact table and no log entry.
#include "belay/control.h"

#include "abi/call.h"
#include "abi/fault.h"
#include "abi/resolve.h"

namespace belay::abi {
namespace {
using check::FindingId;
using runtime::StreamObject;

// The life of a call that the fact table does not know.
template <class Body>
aclError Control(const char* name, void* caller, Body body) {
  runtime::Runtime& runtime = runtime::Runtime::Start();
  Call call(name, caller, runtime, runtime::CurrentThread());
  Status result;
  uint32_t mode = runtime::g_mode.load(std::memory_order_acquire);
  if ((mode & (runtime::kForked | runtime::kFinalised)) != 0 &&
      !MayGoOn(call, Life::kNormal, mode, &result)) {
    return result.code();
  }
  result = body(call);
  return result.code();
}

Status RefuseNumber(const Call& call, const char* parameter, long value, const char* allowed) {
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("%s is %ld", parameter, value)
      .Rule("The functions of belay/control.h take documented values only")
      .Fix("pass %s", allowed)
      .End();
}

Status Land(const Call& call, aclrtStream stream, int* landed) {
  StreamObject* found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, stream, &found));
  if (!call.engine().held(*found->stream)) {
    return call.Refuse(code::kRtParam, FindingId::kBadArgument)
        .On(found->device->user, found->id)
        .Say("stream %d is not held", found->id)
        .Rule("Tasks are landed by hand on a held stream only (belay/control.h)")
        .Fix("call belay_hold_stream before the tasks are submitted")
        .End();
  }
  bool done = call.engine().Land(*found->stream);
  if (landed != nullptr) *landed = done ? 1 : 0;
  return Status();
}

Status List(const Call& call, aclrtStream stream, belay_pending_task* tasks, size_t capacity, size_t* count) {
  if (count == nullptr || (tasks == nullptr && capacity != 0)) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("%s is a null pointer", count == nullptr ? "count" : "tasks")
        .Rule("Only tasks may be null, and only when capacity is 0 (belay/control.h)")
        .Fix("pass the address of existing memory")
        .End();
  }
  StreamObject* found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, stream, &found));
  std::vector<engine::Engine::PendingTask> pending = call.engine().Pending(*found->stream, capacity, count);
  for (size_t i = 0; i < pending.size(); ++i) {
    const engine::Op& op = pending[i].op;
    tasks[i] = {op.task, op.thread, op.api, pending[i].waiting ? 1 : 0};
  }
  return Status();
}
}  // namespace
}  // namespace belay::abi

using namespace belay::abi;

extern "C" {

BELAY_EXPORT aclError belay_hold_stream(aclrtStream stream) {
  return Control(__func__, __builtin_return_address(0), [&](const Call& call) {
    StreamObject* found = nullptr;
    BELAY_TRY(NeedCurrentStream(call, stream, &found));
    call.engine().Hold(*found->stream, belay::engine::Engine::Holder::kTest);
    return belay::Status();
  });
}

BELAY_EXPORT aclError belay_release_stream(aclrtStream stream) {
  return Control(__func__, __builtin_return_address(0), [&](const Call& call) {
    StreamObject* found = nullptr;
    BELAY_TRY(NeedCurrentStream(call, stream, &found));
    call.engine().Resume(*found->stream, belay::engine::Engine::Holder::kTest);
    return belay::Status();
  });
}

BELAY_EXPORT aclError belay_land_one(aclrtStream stream, int* landed) {
  return Control(__func__, __builtin_return_address(0),
                 [&](const Call& call) { return Land(call, stream, landed); });
}

BELAY_EXPORT aclError belay_list_pending(aclrtStream stream, belay_pending_task* tasks, size_t capacity,
                                         size_t* count) {
  return Control(__func__, __builtin_return_address(0),
                 [&](const Call& call) { return List(call, stream, tasks, capacity, count); });
}

BELAY_EXPORT aclError belay_fail_next_task(aclrtStream stream, aclError code) {
  return Control(__func__, __builtin_return_address(0), [&](const Call& call) {
    if (code == 0) return RefuseNumber(call, "code", code, "the code to fail with");
    StreamObject* found = nullptr;
    BELAY_TRY(NeedCurrentStream(call, stream, &found));
    call.engine().FailNext(*found->stream, code);
    return belay::Status();
  });
}

BELAY_EXPORT aclError belay_fail_device(int32_t device, aclError code, const aclrtErrorInfo* info) {
  return Control(__func__, __builtin_return_address(0), [&](const Call& call) {
    if (code == 0) return RefuseNumber(call, "code", code, "the code that the device breaks with");
    belay::runtime::Device* found = nullptr;
    BELAY_TRY(NeedDevice(call, device, "device", &found));
    InjectFault(call, *found, code, info);
    return belay::Status();
  });
}

}  // extern "C"
