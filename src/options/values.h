// Texts that stand for numbers and sizes, read strictly: the whole text, no sign, no blanks. Threading: pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belay::options {

std::optional<uint64_t> ParseWhole(std::string_view text);
// Plain decimals such as "0.5"; never infinite.
std::optional<double> ParseDecimal(std::string_view text);
// Bytes, or a whole number with KiB, MiB, GiB or TiB.
std::optional<uint64_t> ParseSize(std::string_view text);
// "true" and "on", "false" and "off".
std::optional<bool> ParseSwitch(std::string_view text);

// The form that ParseSize wants, for errors.
inline constexpr std::string_view kSizeForm =
    "bytes, or a whole number with KiB, MiB, GiB or TiB such as 8GiB";

// The shortest form that ParseSize reads back: "61GiB", "1536MiB", "1000".
std::string FormatSize(uint64_t bytes);

}  // namespace belay::options
