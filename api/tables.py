"""Emits gen/belay/facts: functions, return codes and enum names."""

import lacks
from output import c_banner, c_string, write

FUNCTIONS_H = """\
// The runtime functions of AscendCL as data: names, parameters, and where each exists.
//
// Guarantees: Fn is sorted by name; every table lives in read-only memory.
#pragma once

#include <cstdint>
#include <string_view>

namespace belay::facts {

enum class Fn : uint16_t {
%(fns)s
  kCount,
};

enum class Family : uint8_t { k950, kA3, kA2, k200I, kInf, kTrn, kCount };
enum class Cann : uint8_t { k81, k85, k90, k91, kCount };

enum class State : uint8_t {
  kImplemented,
  kRefused,  // by the specification no profile has it
  kNotYet,   // will be built later
};

struct FnFacts {
  const char* name;
  const char* section;  // of the specification; "README": known only by signature
  uint8_t lacks[4];     // per Cann: bit of each Family where the call answers 207000
  bool probe;           // a refusal is an expected answer, not a program error
  State state;
  uint8_t param_count;
  const char* const* params;  // names, param_count of them
  const char* returns;        // return type
  Cann since;                 // first version that has the call; kCount: none
  const char* unless;         // quirk that, when on, leaves only `since` of lacks; nullptr: none
};

inline constexpr int kFnCount = static_cast<int>(Fn::kCount);

const FnFacts& Facts(Fn fn);
Fn FindFn(std::string_view name);  // kCount if there is none

inline bool Lacks(const FnFacts& facts, Cann cann, Family family) {
  return (facts.lacks[static_cast<int>(cann)] >> static_cast<int>(family) & 1) != 0;
}

const char* FamilyName(Family family);
const char* CannName(Cann cann);

}  // namespace belay::facts
"""

FUNCTIONS_CC = """\
#include "belay/facts/functions.h"

#include <algorithm>
#include <iterator>

namespace belay::facts {
namespace {

%(params)s

constexpr FnFacts kFunctions[] = {
%(rows)s
};
static_assert(std::size(kFunctions) == kFnCount);

}  // namespace

const FnFacts& Facts(Fn fn) { return kFunctions[static_cast<int>(fn)]; }

Fn FindFn(std::string_view name) {
  const auto* found = std::lower_bound(std::begin(kFunctions), std::end(kFunctions), name,
                                       [](const FnFacts& f, std::string_view n) { return f.name < n; });
  if (found == std::end(kFunctions) || found->name != name) return Fn::kCount;
  return static_cast<Fn>(found - std::begin(kFunctions));
}

const char* FamilyName(Family family) {
  static constexpr const char* kNames[] = {%(families)s};
  return kNames[static_cast<int>(family)];
}

const char* CannName(Cann cann) {
  static constexpr const char* kNames[] = {%(versions)s};
  return kNames[static_cast<int>(cann)];
}

}  // namespace belay::facts
"""

CODES_H = """\
// The return codes of AscendCL: number, name and a short meaning.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace belay::facts {

struct Code {
  int32_t value;
  const char* name;
  const char* meaning;
};

const char* CodeName(int code);     // "ACL_SUCCESS" for 0; nullptr if unknown
const char* CodeMeaning(int code);  // nullptr if unknown
int FindCode(std::string_view name);  // -1 if unknown; knows every alias

std::span<const Code> AllCodes();  // by value, one name each

}  // namespace belay::facts
"""

CODES_CC = """\
#include "belay/facts/codes.h"

#include <algorithm>
#include <iterator>

namespace belay::facts {
namespace {

constexpr Code kCodes[] = {
%(codes)s
};

struct Alias {
  const char* name;
  int32_t value;
};
constexpr Alias kAliases[] = {
%(aliases)s
};

const Code* Find(int value) {
  const auto* found = std::lower_bound(std::begin(kCodes), std::end(kCodes), value,
                                       [](const Code& code, int v) { return code.value < v; });
  return found != std::end(kCodes) && found->value == value ? found : nullptr;
}

}  // namespace

const char* CodeName(int code) {
  const Code* found = Find(code);
  return found ? found->name : nullptr;
}

const char* CodeMeaning(int code) {
  const Code* found = Find(code);
  return found ? found->meaning : nullptr;
}

int FindCode(std::string_view name) {
  for (const Code& code : kCodes) {
    if (code.name == name) return code.value;
  }
  for (const Alias& alias : kAliases) {
    if (alias.name == name) return alias.value;
  }
  return -1;
}

std::span<const Code> AllCodes() { return kCodes; }

}  // namespace belay::facts
"""

ENUMS_H = """\
// Names of AscendCL enum values, for messages.
#pragma once

#include <cstdint>
#include <string_view>

namespace belay::facts {

const char* EnumName(std::string_view enum_type, int64_t value);  // nullptr if unknown

}  // namespace belay::facts
"""

ENUMS_CC = """\
#include "belay/facts/enums.h"

#include <algorithm>
#include <iterator>

namespace belay::facts {
namespace {

struct Value {
  int64_t value;
  const char* name;
};
struct Enum {
  const char* name;
  const Value* values;
  int count;
};

%(values)s

constexpr Enum kEnums[] = {
%(enums)s
};

}  // namespace

const char* EnumName(std::string_view enum_type, int64_t value) {
  const auto* type = std::lower_bound(std::begin(kEnums), std::end(kEnums), enum_type,
                                      [](const Enum& e, std::string_view n) { return e.name < n; });
  if (type == std::end(kEnums) || type->name != enum_type) return nullptr;
  for (int i = 0; i < type->count; ++i) {
    if (type->values[i].value == value) return type->values[i].name;
  }
  return nullptr;
}

}  // namespace belay::facts
"""

STATES = {"implemented": "kImplemented", "refused": "kRefused", "not yet": "kNotYet"}
CANN = ("k81", "k85", "k90", "k91", "kCount")


def _functions(facts):
    params, rows = [], []
    for f in facts.runtime:
        names = ", ".join(c_string(p.name) for p in f.params)
        if names:
            params.append(f"constexpr const char* k_{f.name}[] = {{{names}}};")
        masks = ", ".join(hex(m) for m in f.masks)
        rows.append(
            f"    {{{c_string(f.name)}, {c_string(f.section)}, {{{masks}}}, {str(f.probe).lower()}, "
            f"State::{STATES[f.state]}, {len(f.params)}, {'k_' + f.name if names else 'nullptr'}, "
            f"{c_string(f.returns)}, Cann::{CANN[lacks.available_since(f.since)]}, "
            f"{c_string(f.unless) if f.unless else 'nullptr'}}},")
    header = FUNCTIONS_H % {"fns": "\n".join(f"  {f.name}," for f in facts.runtime)}
    source = FUNCTIONS_CC % {
        "params": "\n".join(params), "rows": "\n".join(rows),
        "families": ", ".join(c_string(f) for f in lacks.FAMILIES),
        "versions": ", ".join(c_string(v) for v in lacks.VERSIONS)}
    return header, source


def _codes(facts):
    shown = facts.codes_by_value()
    codes = [f"    {{{v}, {c_string(c['name'])}, {c_string(c['meaning'])}}}," for v, c in shown.items()]
    second = [c for c in facts.codes if shown[c["value"]] is not c]
    aliases = [f"    {{{c_string(c['name'])}, {c['value']}}}," for c in second]
    return CODES_H, CODES_CC % {"codes": "\n".join(codes), "aliases": "\n".join(aliases)}


def _enums(facts):
    values, rows = [], []
    for e in sorted(facts.enums, key=lambda e: e["name"]):
        items = ", ".join(f"{{{v['value']}, {c_string(n)}}}" for n, v in e["values"].items())
        values.append(f"constexpr Value k_{e['name']}[] = {{{items}}};")
        rows.append(f"    {{{c_string(e['name'])}, k_{e['name']}, {len(e['values'])}}},")
    return ENUMS_H, ENUMS_CC % {"values": "\n".join(values), "enums": "\n".join(rows)}


def emit(facts, directory):
    for name, pair in (("functions", _functions(facts)), ("codes", _codes(facts)), ("enums", _enums(facts))):
        for suffix, text in zip((".h", ".cc"), pair):
            write(directory / "belay" / "facts" / (name + suffix), c_banner() + text)
