// The picture of `belay topo --svg`: devices, the links that join groups of them, bandwidth and peer access.
//
// One layout for every width: it is drawn for 390 pixels, where the smallest label has 12, and scales up from
// there. The text is monospaced, so that its width is known without a font. Threading: a pure function.
#pragma once

#include <string>

#include "machine/machine.h"

namespace belay::tool {

// A picture of more devices a node would have labels that nobody can read.
inline constexpr int kMaxDrawnDevices = 64;

// How people call a link: "HCCS switch". The short form fits below two devices.
const char* LinkTitle(machine::LinkKind kind);
const char* LinkCode(machine::LinkKind kind);

// "133.9", or "?" for a number that is unknown.
std::string NumberText(double value);

// Devices of the first node, which all other nodes are copies of.
int FirstNodeDevices(const machine::Machine& machine);

std::string TopologySvg(const machine::Machine& machine);

}  // namespace belay::tool
