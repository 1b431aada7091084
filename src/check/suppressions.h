// Suppressions: findings that the user has looked at and does not want to see.
//
//   # comment
//   slow-pattern                    every finding of the id
//   peer-not-enabled:train_step     those with a site whose function, file:line, file or module matches
//   *:*/libhccl.so                  `*` and `?` and [sets] are globs, also as the id
//
// Threading: immutable once parsed. Cost: Matches() allocates nothing.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "check/checks.h"
#include "os/symbolizer.h"

namespace belay::check {

class Suppressions {
 public:
  Suppressions() = default;

  // A bad line is an error with `name` and its number.
  static tl::expected<Suppressions, std::string> Parse(std::string_view text, std::string_view name);
  static tl::expected<Suppressions, std::string> Load(const std::string& file);

  // Ids that are suppressed wherever they happen.
  CheckSet everywhere() const { return everywhere_; }

  bool has_sites() const { return !rules_.empty(); }
  bool Matches(FindingId id, const os::Symbol& symbol) const;

 private:
  struct Rule {
    CheckSet ids;
    std::string glob;
  };

  CheckSet everywhere_;
  std::vector<Rule> rules_;
};

// A glob, or the text itself, matches. `*` also matches '/'.
bool GlobMatches(std::string_view glob, std::string_view text);

}  // namespace belay::check
