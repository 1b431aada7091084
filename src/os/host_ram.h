// How much host RAM this process can hope for.
#pragma once

#include <cstdint>

namespace belay::os {

// min(limit of the control group, 80 % of what the kernel calls available); at least 64 MiB.
uint64_t DefaultHostMemory();

}  // namespace belay::os
