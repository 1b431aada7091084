// Everything a user can set, as plain typed values, with the place each one came from.
//
// Guarantees: a loaded Options holds only values that are legal and built; whether `check`, `suppress` and
// `product` make sense is decided by the rooms that own them. Threading: a value; load it once, then share it
// as const.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "belay/facts/functions.h"

namespace belay::options {

enum class Schedule : uint8_t { kAsync, kEager, kOnWait };
enum class OnFinding : uint8_t { kContinue, kAbort, kTrap };
enum class Unsupported : uint8_t { kError, kAbort };
enum class Color : uint8_t { kAuto, kOn, kOff };

// In rising precedence.
enum class Source : uint8_t { kDefault, kFile, kEnvironment, kCommandLine };

// One option as it stands: its text and who set it. A repeatable option joins its values with ", ".
struct Origin {
  std::string_view name;
  std::string value;
  Source source = Source::kDefault;
};

struct Options {
  std::string product = "atlas-800t-a2";
  facts::Cann cann = facts::Cann::k90;
  std::vector<std::pair<std::string, std::string>> quirks;  // lowest precedence first, no name twice
  int devices = 0;                                          // 0 = the product's count
  uint64_t hbm_bytes = 0;                                   // 0 = the product's
  uint64_t host_memory_bytes = 0;                           // 0 = a share of what the machine has free
  Schedule schedule = Schedule::kAsync;
  int workers = -1;           // -1 = cores - 1, at least 1
  uint64_t stream_depth = 0;  // 0 = no limit
  std::string check = "basic";
  int sites = 1;
  OnFinding on_finding = OnFinding::kContinue;
  std::string suppress;  // empty = none
  double stall_after_seconds = 10;
  std::string time = "wall";
  std::string log;                   // empty = none
  std::vector<std::string> reports;  // empty = none
  int findings_exit_code = 87;
  std::string node;  // empty = one node per run
  Unsupported unsupported = Unsupported::kError;
  bool quiet = false;
  Color color = Color::kAuto;

  std::vector<Origin> origins;  // one per option, in the order of the table
};

// The three places that options come from. Empty text means that the place says nothing.
struct Sources {
  std::string cli;          // what `belay run` was given, in the syntax of BELAY (syntax.h)
  std::string environment;  // BELAY
  std::string config_path;  // BELAY_CONFIG: a TOML file
};

// Reads BELAY_CLI, BELAY and BELAY_CONFIG.
Sources FromEnvironment();

// The error is complete: it names the source, the option, the value, the rule and, for a wrong name, the
// nearest.
tl::expected<Options, std::string> Load(const Sources& sources);

// "the default", "the file of BELAY_CONFIG", "BELAY", "the command line".
const char* SourceName(Source source);

}  // namespace belay::options
