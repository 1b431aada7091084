// The TOML file of BELAY_CONFIG as option texts.
//
// A key is an option's name. A repeatable option may be a list; `quirk` may also be a table [quirk].
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace belay::options {

struct FileSetting {
  std::string name;
  std::string value;
  std::string where;  // "belay.toml:3"
};

// Knows no option names. The error starts with the place.
tl::expected<std::vector<FileSetting>, std::string> ReadConfigFile(const std::string& path);

}  // namespace belay::options
