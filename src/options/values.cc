#include "options/values.h"

#include <charconv>
#include <cmath>

namespace belay::options {
namespace {

struct Unit {
  std::string_view name;
  int shift;
};
constexpr Unit kUnits[] = {{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}};

}  // namespace

std::optional<uint64_t> ParseWhole(std::string_view text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<double> ParseDecimal(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc() || stop != end || !std::isfinite(value) || std::signbit(value))
    return std::nullopt;
  return value;
}

std::optional<uint64_t> ParseSize(std::string_view text) {
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    auto count = ParseWhole(text.substr(0, text.size() - unit.name.size()));
    if (!count || *count > (UINT64_MAX >> unit.shift)) return std::nullopt;
    return *count << unit.shift;
  }
  return ParseWhole(text);
}

std::optional<bool> ParseSwitch(std::string_view text) {
  if (text == "on" || text == "true") return true;
  if (text == "off" || text == "false") return false;
  return std::nullopt;
}

std::string FormatSize(uint64_t bytes) {
  for (const Unit& unit : kUnits) {
    uint64_t count = bytes >> unit.shift;
    if (count != 0 && count << unit.shift == bytes) return std::to_string(count).append(unit.name);
  }
  return std::to_string(bytes);
}

}  // namespace belay::options
