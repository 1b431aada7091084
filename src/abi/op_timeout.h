// The limits of waits and of tasks, which hold for the whole process: SPEC 20 §8.
#pragma once

#include <cstdint>

namespace belay::abi {

// Of waits in streams that are submitted from now on; 0 = none.
int64_t OpWaitTimeoutNs();

}  // namespace belay::abi
