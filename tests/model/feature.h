// What the library under test has: programs use nothing else.
#pragma once

#include <string>

namespace model {

enum Feature : unsigned {
  kFlagEvents = 1u << 0,
  kNotifies = 1u << 1,
  kValues = 1u << 2,
  kHostFuncs = 1u << 3,
  kCallbacks = 1u << 4,
  kEventBooks = 1u << 5,
  kControls = 1u << 6,
  kPageableMemory = 1u << 7,  // every library has it
  kEveryFeature = (1u << 8) - 1,
};

// Tries one call of each; device 0 must be current.
unsigned ProbeFeatures();
std::string FeatureNames(unsigned features);
// The set that a list such as "notifies,values" names; an unknown name is ignored.
unsigned ParseFeatures(const std::string& names);

}  // namespace model
