#include "abi/sync.h"

#include "abi/resolve.h"
#include "engine/callback_scope.h"
#include "os/thread.h"

namespace belay::abi {
namespace {
using check::FindingId;
using runtime::Context;
using runtime::StreamObject;

Status Expired(const Call& call, int32_t code, int32_t timeout_ms, const char* what) {
  Refusal refusal = call.Refuse(code, FindingId::kNeverFires);
  refusal.Say("%s was not done within %d ms; it goes on", what, timeout_ms)
      .Rule("An expired wait changes nothing (SPEC 20 §3)")
      .Plain();
  if (timeout_ms == 0) refusal.Benign();  // SPEC 11 §2: a look, not a failure
  return refusal.End();
}

Status SynchronizeAll(const Call& call, const std::vector<StreamObject*>& streams, int32_t timeout_ms) {
  int64_t deadline = DeadlineOf(timeout_ms);
  std::vector<uint64_t> sequences;
  std::vector<uint32_t> aborts;
  for (StreamObject* stream : streams) {
    BELAY_TRY(NeedWorking(call, *stream));
    sequences.push_back(stream->stream->submitted());
    aborts.push_back(stream->stream->aborts());
  }
  call.thread().waiting = call.now();
  for (size_t i = 0; i < streams.size(); ++i) {
    bool done = timeout_ms == 0 ? call.engine().Query(*streams[i]->stream)
                                : call.engine().Wait(*streams[i]->stream, sequences[i], deadline);
    if (!done) {
      return Expired(call, code::kStreamTimeout, timeout_ms, "the device");
    }
  }
  for (size_t i = 0; i < streams.size(); ++i) {
    if (streams[i]->stream->aborts() != aborts[i])
      return RefuseAborted(call, *streams[i]->stream, streams[i]->stream->abort_code());
    BELAY_TRY(NeedWorking(call, *streams[i]));
  }
  // SPEC 21 §1: the failure that happened first; those of other streams stay for the next call.
  size_t first = streams.size();
  uint64_t order = 0;
  for (size_t i = 0; i < streams.size(); ++i) {
    engine::Failure failure = call.engine().PeekFailure(*streams[i]->stream, sequences[i]);
    if (failure.code == 0 || (first != streams.size() && failure.order >= order)) continue;
    first = i;
    order = failure.order;
  }
  return first == streams.size() ? Status() : ReportFailure(call, *streams[first]->stream, sequences[first]);
}
}  // namespace

Status RefuseAborted(const Call& call, const engine::Stream& stream, int32_t code) {
  bool device = code == code::kDeviceTaskAbort;
  Refusal refusal = call.Refuse(code, FindingId::kDeviceFault);
  if (device) {
    refusal.Say("the tasks of the device were aborted; reason=[device task abort], reason=device task abort");
  } else {
    refusal.Say("stream %d was aborted", stream.id);
  }
  return refusal.As(check::Severity::kNote)
      .On(call.runtime().UserId(stream.device), stream.id)
      .Rule("A wait for a task that an abort dropped returns the code of the abort (SPEC 20 §3.3, 21 §7)")
      .Fix("submit the work again: the stream goes on after the abort")
      .End();
}

int64_t DeadlineOf(int32_t timeout_ms) {
  if (timeout_ms < 0) return engine::Engine::kNoDeadline;
  return os::MonotonicNs() + static_cast<int64_t>(timeout_ms) * 1'000'000;
}

Status NeedTimeout(const Call& call, int32_t timeout_ms) {
  if (timeout_ms >= -1) return Status();
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("timeout is %d", timeout_ms)
      .Rule("A timeout is -1 for ever, 0 to look once, or milliseconds (SPEC 20 §3)")
      .Fix("pass -1 to wait without a limit")
      .End();
}

// The words that applications look for in the recent messages (SPEC 21 §6.4).
const char* ReasonOf(int32_t failure) {
  switch (failure) {
    case 507053:
      return "device mem error";
    case 507054:
      return "hbm Multi-bit ECC error";
    case 507056:
      return "link error";
    case 507055:
      return "suspect device mem error";
    case 507057:
      return "suspect remote error";
    case 507904:
      return "hccl op retry failed";
    case 107022:
      return "device task abort";
    default:
      return nullptr;
  }
}

// A failure of a task, or of the device itself.
const char* OriginOf(const engine::Failure& failure) {
  return failure.stream >= 0 ? "failed task submitted" : "device broken";
}

Refusal SayFailure(const Call& call, const engine::Failure& failure) {
  constexpr int32_t kHostRam = 207018, kTimeout = 107020;
  int device = failure.device >= 0 ? call.runtime().UserId(failure.device) : -1;
  FindingId id = failure.code == kHostRam        ? FindingId::kResourceExhausted
                 : failure.code == code::kDriver ? FindingId::kPeerNotEnabled
                 : failure.code == kTimeout      ? FindingId::kNeverFires
                                                 : FindingId::kDeviceFault;
  Refusal refusal = call.Refuse(failure.code, id);
  refusal.On(device, failure.stream);
  unsigned long long task = failure.sequence - 1;
  if (failure.code == kHostRam) {
    refusal
        .Say("task %llu of stream %d failed: the host RAM for device bytes is used up (%llu MiB of %llu MiB)",
             task, failure.stream,
             static_cast<unsigned long long>(call.memory().physical().used_bytes() >> 20),
             static_cast<unsigned long long>(call.memory().physical().budget_bytes() >> 20))
        .Rule("Device bytes that were written take host RAM, at most `host-memory` (SPEC 31 §0.5)")
        .Fix("raise --host-memory, or write fewer bytes");
  } else if (failure.code == code::kDriver) {
    refusal
        .Say("task %llu of stream %d failed: its peer direction was closed before it started", task,
             failure.stream)
        .Rule("A task that starts after aclrtDeviceDisablePeerAccess fails (SPEC 32 §2.3)")
        .Fix("synchronise the stream before you disable peer access");
  } else if (failure.code == kTimeout) {
    refusal.Say("task %llu of stream %d waited longer than its limit", task, failure.stream)
        .Rule("A wait with a limit fails when its time is up; the stream goes on (SPEC 20 §8)")
        .Fix("record what it waits for earlier, or raise the limit");
  } else {
    const char* reason = ReasonOf(failure.code);
    if (failure.stream >= 0) {
      refusal.Say("task %llu of stream %d of device %d failed with %d", task, failure.stream, device,
                  failure.code);
    } else {
      refusal.Say("device %d broke with %d", device, failure.code);
    }
    if (reason != nullptr) refusal.Say("; reason=[%s], reason=%s", reason, reason);
    refusal.Rule("A failed task is reported by the next call that waits for it (SPEC 21 §6.3)")
        .Fix("look at what was submitted there; on a broken device reset it or abort its tasks and repair");
  }
  if (failure.api != nullptr) {
    refusal.With(OriginOf(failure), {failure.api, failure.thread, failure.site}, device, failure.stream);
  }
  return refusal;
}

Status ReportFailure(const Call& call, engine::Stream& stream, uint64_t sequence) {
  if (!stream.failed()) [[likely]]
    return Status();
  engine::Failure failure = call.engine().TakeFailure(stream, sequence);
  return failure.code == 0 ? Status() : SayFailure(call, failure).End();
}

Status RefuseTrouble(const Call& call, const StreamObject& stream) {
  runtime::Device& device = *stream.device;
  if (device.aborting.load(std::memory_order_relaxed)) {
    return call.Refuse(code::kDeviceTaskAbort, FindingId::kDeviceFault)
        .As(check::Severity::kNote)
        .On(device.user, stream.id)
        .Say("the tasks of device %d are being aborted; reason=[device task abort], reason=device task abort",
             device.user)
        .Rule("While aclrtDeviceTaskAbort runs, other calls on its device return 107022 (SPEC 21 §7)")
        .Fix("wait until aclrtDeviceTaskAbort has returned")
        .End();
  }
  bool fatal = device.fatal.load(std::memory_order_acquire) != 0;
  if (call.engine().watched()) [[unlikely]] {
    // Nothing that is left in their streams will run, and the program hears of it now.
    for (runtime::StreamObject* one :
         fatal ? call.runtime().StreamsOf(device) : call.runtime().StreamsOf(*stream.context)) {
      call.engine().HostKnows(*one->stream, one->stream->done());
    }
  }
  engine::Failure failure = fatal ? call.runtime().FaultOf(device) : stream.context->domain.first_failure();
  if (failure.code == 0) return Status();  // cleared meanwhile
  return SayFailure(call, failure)
      .Say(fatal ? "; the device stays broken until it is repaired or reset by force"
                 : "; the context is stopped (failure mode STOP)")
      .End();
}

Status RefuseBroken(const Call& call, const runtime::Device& device) {
  engine::Failure failure = call.runtime().FaultOf(call.runtime().device(device.user));
  Refusal refusal = call.Refuse(call.machine().quirks().fatal_alloc_code, FindingId::kDeviceFault);
  refusal.On(device.user)
      .Say("device %d is broken since a fault with code %d: this is no lack of memory", device.user,
           failure.code)
      .Rule("Nothing is created on a broken device; the code is that of exhausted memory (SPEC 21 §6.3)")
      .Fix("call aclrtResetDeviceForce(%d), or aclrtDeviceTaskAbort and aclrtRepairError", device.user);
  if (const char* reason = ReasonOf(failure.code)) refusal.Say("; reason=[%s], reason=%s", reason, reason);
  if (failure.api != nullptr) {
    refusal.With(OriginOf(failure), {failure.api, failure.thread, failure.site}, device.user, failure.stream);
  }
  return refusal.End();
}

Status NeedOtherStream(const Call& call, const engine::Stream* waited_for, const Context* context) {
  const engine::CallbackScope* scope = engine::CallbackScope::Current();
  if (scope == nullptr || scope->stream == nullptr) [[likely]]
    return Status();
  bool own = waited_for != nullptr ? scope->stream == waited_for : scope->stream->domain == &context->domain;
  if (!own) return Status();
  return call.Refuse(code::kRtParam, FindingId::kCallbackMisuse)
      .Say("%s waits for stream %d, which waits for the function that calls it", call.name(),
           scope->stream->id)
      .Rule("A host function or blocking callback must not wait for its own stream (SPEC 21 §3.1)")
      .Fix("wait in the thread that submits")
      .With("function submitted", {scope->api, scope->thread, scope->site},
            call.runtime().UserId(scope->stream->device), scope->stream->id)
      .End();
}

Status RefuseUnbound(const Call& call, const StreamObject& stream, const char* rule) {
  return call.Refuse(code::kStreamModel, FindingId::kBadArgument)
      .On(stream.device->user, stream.id)
      .Say("stream %d is bound to no model", stream.id)
      .Rule(rule)
      .Fix("bind the streams to one model with aclmdlRIBindStream first")
      .With("stream created", stream.created, stream.device->user, stream.id)
      .End();
}

Status NeedStreamToSubmit(const Call& call, const void* handle, StreamObject** stream) {
  BELAY_TRY(NeedCurrentStream(call, handle, stream));
  BELAY_TRY(NeedWorking(call, **stream));
  if (((*stream)->flags & ACL_STREAM_DEVICE_USE_ONLY) == 0) [[likely]]
    return Status();
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .On((*stream)->device->user, (*stream)->id)
      .Say("stream %d was created with ACL_STREAM_DEVICE_USE_ONLY", (*stream)->id)
      .Rule("The host submits nothing to a stream that only the device drives (SPEC 20 §3.1)")
      .Fix("submit to a stream without that flag")
      .With("stream created", (*stream)->created, (*stream)->device->user, (*stream)->id)
      .End();
}

Status NeedStreamToWaitFor(const Call& call, const void* handle, StreamObject** stream) {
  BELAY_TRY(NeedCurrentStream(call, handle, stream));
  BELAY_TRY(NeedOtherStream(call, (*stream)->stream, nullptr));
  if ((*stream)->stopped.load(std::memory_order_relaxed)) [[unlikely]] {
    return call.Refuse(code::kStreamAbort, FindingId::kDeviceFault)
        .As(check::Severity::kNote)
        .On((*stream)->device->user, (*stream)->id)
        .Say("stream %d is stopped", (*stream)->id)
        .Rule("A stopped stream keeps its tasks until it is aborted or destroyed (SPEC 20 §3)")
        .Fix("call aclrtStreamAbort or aclrtDestroyStreamForce")
        .End();
  }
  return NeedWorking(call, **stream);
}

Status SynchronizeStream(const Call& call, StreamObject& stream, int32_t timeout_ms) {
  uint64_t sequence = stream.stream->submitted();
  if (stream.stream->done() < sequence) {
    uint32_t aborts = stream.stream->aborts();
    call.thread().waiting = call.now();
    // 0 looks once, as a query does, and runs nobody's tasks.
    bool done = timeout_ms == 0 ? call.engine().Query(*stream.stream)
                                : call.engine().Wait(*stream.stream, sequence, DeadlineOf(timeout_ms));
    if (!done) {
      return Expired(call, code::kStreamTimeout, timeout_ms, "the stream");
    }
    if (stream.stream->aborts() != aborts)
      return RefuseAborted(call, *stream.stream, stream.stream->abort_code());
    BELAY_TRY(NeedWorking(call, stream));
  } else {
    call.engine().HostKnows(*stream.stream, sequence);
  }
  return ReportFailure(call, *stream.stream, sequence);
}

Status SynchronizeDevice(const Call& call, int32_t timeout_ms) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  BELAY_TRY(NeedOtherStream(call, nullptr, context));
  bool whole_device = call.machine().cann() < facts::Cann::k90;
  return SynchronizeAll(
      call, whole_device ? call.runtime().StreamsOf(*context->device) : call.runtime().StreamsOf(*context),
      timeout_ms);
}

Status NeedOtherDevice(const Call& call, runtime::Device& device) {
  if (engine::CallbackScope::Current() == nullptr) return Status();
  for (StreamObject* stream : call.runtime().StreamsOf(device)) {
    BELAY_TRY(NeedOtherStream(call, stream->stream, nullptr));
  }
  return Status();
}

Status SynchronizeWhole(const Call& call, runtime::Device& device) {
  return SynchronizeAll(call, call.runtime().StreamsOf(device), -1);
}

}  // namespace belay::abi
