// The text form of options in the variables BELAY and BELAY_CLI: `name=value; name='a value with blanks'`.
//
// Pairs stand apart by `;` or blank space. A value with blanks, `;` or quotes stands in single quotes; inside
// them '' is one quote.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace belay::options {

using Pair = std::pair<std::string, std::string>;

// In the order written. Knows no option names.
tl::expected<std::vector<Pair>, std::string> ParsePairs(std::string_view text);

// The inverse of ParsePairs; this is how the tool fills BELAY_CLI.
std::string FormatPairs(const std::vector<Pair>& pairs);

}  // namespace belay::options
