// What ASCEND_RT_VISIBLE_DEVICES leaves of a machine. // SPEC 10 §3.2
//
// Threading: a pure function.
#pragma once

#include <string>
#include <vector>

namespace belay::machine {

struct Visibility {
  std::vector<int> logical;  // logical id by user id
  bool rejected = false;     // the list is not ascending: nothing is visible
  std::string reason;        // why nothing or less than the list is visible; empty when all of it is
  std::string dropped;       // the part of the text that was not used; empty when none
};

// `list` is the variable's text, null when it is unset.
Visibility ParseVisibility(const char* list, int device_count);

}  // namespace belay::machine
