// Waiting for tasks, and handing out the failures that waiting finds: SPEC 20 §3, 21 §§1 and 6.
#pragma once

#include "abi/call.h"

namespace belay::abi {

// Milliseconds: -1 = for ever, 0 = look once, more = at most so long. Everything else is 100000.
Status NeedTimeout(const Call& call, int32_t timeout_ms);

// What earlier failures make of a call on the stream: 107022 while the device's tasks are aborted, or the
// code that broke the device or stopped the context (SPEC 21 §6.3).
[[gnu::cold]] Status RefuseTrouble(const Call& call, const runtime::StreamObject& stream);
inline Status NeedWorking(const Call& call, const runtime::StreamObject& stream) {
  if (!stream.stream->troubled()) [[likely]]
    return Status();
  return RefuseTrouble(call, stream);
}

// The current context's stream for a submission or a synchronise call: NeedCurrentStream, and what its state
// forbids.
Status NeedStreamToSubmit(const Call& call, const void* handle, runtime::StreamObject** stream);
Status NeedStreamToWaitFor(const Call& call, const void* handle, runtime::StreamObject** stream);

// 107005. Nothing binds streams to models yet, so every stream meets it.
Status RefuseUnbound(const Call& call, const runtime::StreamObject& stream, const char* rule);

// 207001 (the quirk fatal_alloc_code) for what is created on a broken device: SPEC 21 §6.3.
[[gnu::cold]] Status RefuseBroken(const Call& call, const runtime::Device& device);
inline Status NeedWhole(const Call& call, const runtime::Device& device) {
  if (device.fatal.load(std::memory_order_acquire) == 0) [[likely]]
    return Status();
  return RefuseBroken(call, device);
}

// SPEC 21 §3.1: a callback that waits for its own stream would wait for ever: 107000. `waited_for` null: the
// whole context.
Status NeedOtherStream(const Call& call, const engine::Stream* waited_for, const runtime::Context* context);

// A wait for a task that an abort dropped: 107022 or 107023.
[[gnu::cold]] Status RefuseAborted(const Call& call, const engine::Stream& stream, int32_t code);

// The same for a call that waits for every stream of a device.
Status NeedOtherDevice(const Call& call, runtime::Device& device);

// The words of a failed task, with the code that a call returns for it.
Refusal SayFailure(const Call& call, const engine::Failure& failure);

// What became of the tasks of a stream up to `sequence`: 0, or the code of one that failed, said once.
Status ReportFailure(const Call& call, engine::Stream& stream, uint64_t sequence);

Status SynchronizeStream(const Call& call, runtime::StreamObject& stream, int32_t timeout_ms);

// The streams of the current context from 9.0 on, all of its device before (SPEC 20 H6).
Status SynchronizeDevice(const Call& call, int32_t timeout_ms);

// All streams of one device of this process; what the ...WithDevSync frees wait for.
Status SynchronizeWhole(const Call& call, runtime::Device& device);

int64_t DeadlineOf(int32_t timeout_ms);

}  // namespace belay::abi
