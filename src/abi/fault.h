// Faults of a device: what was injected, what repair calls are told. SPEC 21 §8.
#pragma once

#include "abi/call.h"

namespace belay::abi {

// Breaks the device; `info` may be null.
void InjectFault(const Call& call, runtime::Device& device, int32_t code, const aclrtErrorInfo* info);

// A forced reset or a repair: the record goes with the fault.
void ForgetFault(const runtime::Device& device);

}  // namespace belay::abi
