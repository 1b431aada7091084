// The names a user may have meant. Threading: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace belay::options {

// Single letters to add, drop, change or swap with a neighbour until one becomes the other.
int EditDistance(std::string_view a, std::string_view b);

// The candidates most like `name`, best first, at most three; names that start alike count as close.
std::vector<std::string_view> Nearest(std::string_view name, std::span<const std::string_view> candidates);

// "a, b, c"
std::string Join(std::span<const std::string_view> names);

}  // namespace belay::options
