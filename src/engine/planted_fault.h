// Faults that tests/model has to find. The library that is installed is built without the flag and has none.
//
// Where a fault is planted stands in tests/model/README.md. Only .cc files may ask, and only of the rooms
// that tests/model/CMakeLists.txt compiles a second time: a header would bring the fault into half of the
// library.
#pragma once

#ifdef BELAY_PLANTED_FAULTS
#include <cstdlib>

namespace belay::engine {

// The fault of this process, 0 for none.
inline int planted_fault() {
  static const int number = [] {
    const char* text = std::getenv("BELAY_PLANTED_FAULT");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return number;
}

}  // namespace belay::engine

#define BELAY_FAULT(n) (::belay::engine::planted_fault() == (n))
#else
#define BELAY_FAULT(n) false
#endif
