// Random programs whose outcome is determined.
#pragma once

#include <cstdint>

#include "program.h"

namespace model {

Program Generate(uint64_t seed, unsigned features);

}  // namespace model
