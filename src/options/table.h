// The one option table: what exists, what it may be, what it means, and how a text becomes its value.
//
// The command line of `belay run`, the variable BELAY, the TOML file, `--help` and `belay doctor` are made
// from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace belay::options {

struct Options;

// Ok, or what the value must be, as the end of a sentence: "must be off or on".
using Verdict = tl::expected<void, std::string>;

struct OptionInfo {
  std::string_view name;
  std::string_view values;                                   // for people: "1..1024"
  std::string_view standard;                                 // the default, for people
  std::string_view help;                                     // one sentence
  Verdict (*set)(Options& options, std::string_view value);  // adds to a repeatable option
  bool repeatable = false;
  bool built = true;              // false: every value but the default is refused
  std::string_view not_yet = {};  // the values that are documented and still refused
};

std::span<const OptionInfo> Table();

// Null when there is no such option.
const OptionInfo* Find(std::string_view name);

// The names most like `name`, at most three, as text: "schedule, suppress".
std::string NearestOptions(std::string_view name);

}  // namespace belay::options
