// The pages docs/findings/ID.md, compiled into the tool; tools/belay/CMakeLists.txt writes the definition.
#pragma once

#include <string_view>

namespace belay::tool {

// Empty if the finding has no page.
std::string_view FindingPage(std::string_view id);

}  // namespace belay::tool
