// From the arguments of a call to the objects they name, or a refusal that says why not.
#pragma once

#include "abi/call.h"

namespace belay::abi {

// The thread's context, or 107002 (SPEC 10 §6, 00 rule 1).
Status NeedContext(const Call& call, runtime::Context** context);

// A device id of the program, or 107001.
Status NeedDevice(const Call& call, int64_t id, const char* parameter, runtime::Device** device);

// The stream that a handle names in the current context; null is the context's default stream. 107017,
// 107003.
Status NeedStream(const Call& call, runtime::Context& context, const void* handle,
                  runtime::StreamObject** stream);
// The same for calls that only read: any context of the process will do (SPEC 20 §2).
Status NeedAnyStream(const Call& call, runtime::Context& context, const void* handle,
                     runtime::StreamObject** stream);

// The same with the thread's context, for calls that need nothing else of it.
Status NeedCurrentStream(const Call& call, const void* handle, runtime::StreamObject** stream);
Status NeedReadableStream(const Call& call, const void* handle, runtime::StreamObject** stream);

// The event that a handle names, or 100000 for null and 107017.
Status NeedEvent(const Call& call, const void* handle, runtime::EventObject** event);

// Says that the thread has no context, without a refusal's code: for the way out of NeedContext.
[[gnu::cold]] Status NoContext(const Call& call);

}  // namespace belay::abi
