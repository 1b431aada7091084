// Which findings are looked for and printed: the value of the option `check`.
//
// Guarantees: return codes, bytes and order never depend on a CheckSet.
// Threading: a value of one word; keep it in a relaxed atomic<uint64_t> (bits(), FromBits()) where it is
// shared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "check/finding_id.h"

namespace belay::check {

class CheckSet {
 public:
  constexpr CheckSet() = default;
  static constexpr CheckSet FromBits(uint64_t bits) { return CheckSet(bits); }
  static CheckSet Off() { return {}; }
  // Every built finding but those that only `full` looks for.
  static CheckSet Basic();

  constexpr bool Has(FindingId id) const { return (bits_ >> static_cast<int>(id)) & 1; }
  constexpr void Add(FindingId id) { bits_ |= uint64_t{1} << static_cast<int>(id); }
  constexpr void Remove(FindingId id) { bits_ &= ~(uint64_t{1} << static_cast<int>(id)); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint64_t bits() const { return bits_; }
  friend constexpr bool operator==(CheckSet, CheckSet) = default;

 private:
  constexpr explicit CheckSet(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = 0;
};

static_assert(static_cast<int>(FindingId::kCount) <= 64);

// `off`, `basic`, `full`, or a list: a base or ids first, then `+id` and `-id`. A list that starts with a
// sign starts from `basic`. `guard` stands for the three `host-...` ids.
tl::expected<CheckSet, std::string> ParseChecks(std::string_view text);

// kCount if there is no such id.
FindingId FindId(std::string_view id);

// Ids that are spelled like `name`, best first, at most three; ready to print: "a, b or c".
std::string NearestIds(std::string_view name);

}  // namespace belay::check
