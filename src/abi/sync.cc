#include "abi/sync.h"

#include "abi/resolve.h"
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
  for (StreamObject* stream : streams) sequences.push_back(stream->stream->submitted());
  Status first;
  for (size_t i = 0; i < streams.size(); ++i) {
    bool done = timeout_ms == 0 ? call.engine().Query(*streams[i]->stream)
                                : call.engine().Wait(*streams[i]->stream, sequences[i], deadline);
    if (!done) {
      return Expired(call, code::kStreamTimeout, timeout_ms, "the device");
    }
  }
  for (size_t i = 0; i < streams.size() && first.ok(); ++i)
    first = ReportFailure(call, *streams[i]->stream, sequences[i]);
  return first;
}
}  // namespace

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

Status ReportFailure(const Call& call, engine::Stream& stream, uint64_t sequence) {
  if (!stream.failed()) [[likely]]
    return Status();
  engine::Failure failure = call.engine().TakeFailure(stream, sequence);
  if (failure.code == 0) return Status();
  int device = call.runtime().UserId(stream.device);
  bool host_ram = failure.code == 207018;
  Refusal refusal =
      call.Refuse(failure.code, host_ram ? FindingId::kResourceExhausted : FindingId::kPeerNotEnabled);
  refusal.On(device, stream.id);
  if (host_ram) {
    refusal
        .Say("task %llu of stream %d failed: the host RAM for device bytes is used up (%llu MiB of %llu MiB)",
             static_cast<unsigned long long>(failure.sequence - 1), stream.id,
             static_cast<unsigned long long>(call.memory().physical().used_bytes() >> 20),
             static_cast<unsigned long long>(call.memory().physical().budget_bytes() >> 20))
        .Rule("Device bytes that were written take host RAM, at most `host-memory` (SPEC 31 §0.5)")
        .Fix("raise --host-memory, or write fewer bytes");
  } else {
    refusal
        .Say("task %llu of stream %d failed: its peer direction was closed before it started",
             static_cast<unsigned long long>(failure.sequence - 1), stream.id)
        .Rule("A task that starts after aclrtDeviceDisablePeerAccess fails (SPEC 32 §2.3)")
        .Fix("synchronise the stream before you disable peer access");
  }
  return refusal.With("submitted", {failure.api, failure.thread, failure.site}, device, stream.id).End();
}

Status SynchronizeStream(const Call& call, StreamObject& stream, int32_t timeout_ms) {
  uint64_t sequence = stream.stream->submitted();
  if (stream.stream->done() < sequence) {
    // 0 looks once, as a query does, and runs nobody's tasks.
    bool done = timeout_ms == 0 ? call.engine().Query(*stream.stream)
                                : call.engine().Wait(*stream.stream, sequence, DeadlineOf(timeout_ms));
    if (!done) {
      return Expired(call, code::kStreamTimeout, timeout_ms, "the stream");
    }
  }
  return ReportFailure(call, *stream.stream, sequence);
}

Status SynchronizeDevice(const Call& call, int32_t timeout_ms) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  bool whole_device = call.machine().cann() < facts::Cann::k90;
  return SynchronizeAll(
      call, whole_device ? call.runtime().StreamsOf(*context->device) : call.runtime().StreamsOf(*context),
      timeout_ms);
}

Status SynchronizeWhole(const Call& call, runtime::Device& device) {
  return SynchronizeAll(call, call.runtime().StreamsOf(device), -1);
}

}  // namespace belay::abi
