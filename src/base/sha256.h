// SHA-256 (FIPS 180-4), for names that have to be the same in every process. Not for secrets.
//
// Threading: a pure function.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace belay {

std::array<uint8_t, 32> Sha256(std::string_view text);

}  // namespace belay
