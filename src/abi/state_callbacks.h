// Functions that the program registers to be called around changes of devices, streams and aborts (SPEC 21
// §7.1). They run on the calling thread, in order of registration, outside Belay's locks.
#pragma once

#include "abi/call.h"

namespace belay::abi {

void RunStreamCallbacks(const Call& call, const runtime::StreamObject& stream, aclrtStreamState state);
void RunDeviceCallbacks(const Call& call, int device, aclrtDeviceState state);
void RunAbortCallbacks(const Call& call, int device, aclrtDeviceTaskAbortStage stage, uint32_t timeout_ms);

}  // namespace belay::abi
