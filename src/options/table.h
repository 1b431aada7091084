// The one option table: what exists, what it may be, and what it means.
//
// The command line of `belay run`, the variable BELAY, the TOML file, `--help` and `belay doctor` are made from it.
#pragma once

#include <span>
#include <string_view>

namespace belay::options {

struct OptionInfo {
  std::string_view name;
  std::string_view values;   // for people: "1..1024"
  std::string_view standard;  // the default, for people
  std::string_view help;     // one sentence
  bool repeatable = false;
  bool built = true;         // false: every value but the default is refused
  std::string_view not_yet;  // the values that are documented and still refused
};

std::span<const OptionInfo> Table();

// Null when there is no such option.
const OptionInfo* Find(std::string_view name);

}  // namespace belay::options
