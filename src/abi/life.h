// In which states of the process a function works (SPEC 10 §2.3).
#pragma once

#include <cstdint>

namespace belay::abi {

enum class Life : uint8_t {
  kNormal,  // refused with 100001 after the last finalise
  kFree,    // a release of memory that outlived the runtime: 0 without doing anything
  kAlways,  // works before initialise and after finalise alike
};

}  // namespace belay::abi
