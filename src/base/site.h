// Where in the user's program a call came from: a return address, kept raw and turned into text only when
// printed.
//
//   bit 63 = 0   a return address
//   bit 63 = 1   an interned stack (option `sites` > 1): bits 0..31 are its index
//
// Threading: a value. Cost: one register.
#pragma once

#include <cstdint>

namespace belay {

struct Site {
  uint64_t value = 0;

  constexpr bool known() const { return value != 0; }
  constexpr bool is_stack() const { return (value >> 63) != 0; }
  friend constexpr bool operator==(Site, Site) = default;
};

}  // namespace belay
