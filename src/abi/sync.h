// Waiting for tasks, and handing out the failures that waiting finds: SPEC 20 §3, 21 §§1 and 6.
#pragma once

#include "abi/call.h"

namespace belay::abi {

// Milliseconds: -1 = for ever, 0 = look once, more = at most so long. Everything else is 100000.
Status NeedTimeout(const Call& call, int32_t timeout_ms);

// What became of the tasks of a stream up to `sequence`: 0, or the code of one that failed, said once.
Status ReportFailure(const Call& call, engine::Stream& stream, uint64_t sequence);

Status SynchronizeStream(const Call& call, runtime::StreamObject& stream, int32_t timeout_ms);

// The streams of the current context from 9.0 on, all of its device before (SPEC 20 H6).
Status SynchronizeDevice(const Call& call, int32_t timeout_ms);

// All streams of one device of this process; what the ...WithDevSync frees wait for.
Status SynchronizeWhole(const Call& call, runtime::Device& device);

int64_t DeadlineOf(int32_t timeout_ms);

}  // namespace belay::abi
