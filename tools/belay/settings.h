// What `belay run` and `belay doctor` take: options on the command line, in BELAY and in the file of
// BELAY_CONFIG.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "check/checks.h"
#include "command.h"
#include "machine/machine.h"
#include "options/options.h"
#include "options/syntax.h"

namespace belay::tool {

struct CommandLine {
  std::vector<options::Pair> options;
  Arguments program;  // what follows `--`, or starts at the first word that is no option
  bool help = false;
  bool json = false;
};

// Knows the form `--NAME VALUE` and `--NAME=VALUE`; which names exist is decided by Load.
tl::expected<CommandLine, std::string> ParseCommandLine(Arguments arguments);

// `--NAME VALUES` with help, from the option table, for --help.
void PrintOptions();

// For BELAY_CLI. Files are made absolute: the program may open the library after it changed its directory.
std::string CliVariable(const CommandLine& line);

tl::expected<options::Options, std::string> LoadOptions(const CommandLine& line);

// What the options mean to the rooms that own them; every error names the place that the value came from.
tl::expected<machine::Machine, std::string> CheckOptions(const options::Options& options);

}  // namespace belay::tool
