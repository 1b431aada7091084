// The library that belongs to this tool: ../lib64/libascendcl.so seen from the tool's own place, in the build
// tree and in an installation alike.
#pragma once

#include <string>

namespace belay::tool {

constexpr const char* kLibraryName = "libascendcl.so";

// The directory of the library, without symbolic links in it; it need not exist.
std::string LibraryDirectory();
bool LibraryExists();

}  // namespace belay::tool
