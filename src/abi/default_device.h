// The device that threads without a context get when aclInit's file names one: SPEC 10 §4.3.
#pragma once

#include "abi/call.h"

namespace belay::abi {

// Binds it and gives its default context, which stays null when no default device is configured.
[[gnu::cold]] Status BindDefaultDevice(const Call& call, runtime::Context** context);

// Creating a stream of its own failed: the device has none left.
[[gnu::cold]] Status RefuseNoDefaultStream(const Call& call, const runtime::Device& device);

}  // namespace belay::abi
