// Reads a whole file as text.
#pragma once

#include <optional>
#include <string>

namespace belay::options {

// Nothing when the file cannot be read, as for a directory.
std::optional<std::string> ReadTextFile(const std::string& path);

}  // namespace belay::options
