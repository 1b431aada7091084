#include "settings.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "check/suppressions.h"
#include "options/table.h"

namespace belay::tool {

namespace {

bool IsFile(const options::Pair& pair) {
  const auto& [name, value] = pair;
  if (value.empty() || value[0] == '/' || value == "none") return false;
  if (name == "product") return value.find('/') != std::string::npos || value.ends_with(".toml");
  return name == "suppress" || name == "log" || name == "report" || name == "trace" || name == "fault";
}

std::string CurrentDirectory() {
  char* path = getcwd(nullptr, 0);
  std::string directory = path == nullptr ? "." : path;
  free(path);
  return directory;
}

std::string Located(const options::Options& options, std::string_view name, const std::string& error) {
  for (const options::Origin& origin : options.origins) {
    if (origin.name == name) return std::string(options::SourceName(origin.source)) + ": " + error;
  }
  return error;
}

}  // namespace

tl::expected<CommandLine, std::string> ParseCommandLine(Arguments arguments) {
  CommandLine line;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view word = arguments[i];
    if (word == "--") {
      line.program = arguments.subspan(i + 1);
      return line;
    }
    if (word == "--help" || word == "-h") {
      line.help = true;
      return line;
    }
    if (word == "--json") {
      line.json = true;
      continue;
    }
    if (!word.starts_with("-")) {
      line.program = arguments.subspan(i);
      return line;
    }
    if (!word.starts_with("--"))
      return tl::unexpected("'" + std::string(word) + "' is no option: they start with --");
    word.remove_prefix(2);
    const size_t equals = word.find('=');
    std::string name(word.substr(0, equals));
    if (equals != std::string_view::npos) {
      line.options.emplace_back(std::move(name), word.substr(equals + 1));
      continue;
    }
    const std::string_view next = i + 1 < arguments.size() ? arguments[i + 1] : "--";
    if (name == "quiet" && next != "on" && next != "off") {
      line.options.emplace_back(std::move(name), "on");
      continue;
    }
    // The table is asked first: a wrong name is a better answer than a missing value.
    if (next.starts_with("--") && options::Find(name) != nullptr) {
      return tl::unexpected("the option --" + name +
                            " needs a value: " + std::string(options::Find(name)->values));
    }
    if (next.starts_with("--")) {
      line.options.emplace_back(std::move(name), "");
      continue;
    }
    line.options.emplace_back(std::move(name), next);
    ++i;
  }
  return line;
}

void PrintOptions() {
  for (const options::OptionInfo& info : options::Table()) {
    std::string head = "  --" + std::string(info.name) + " " + std::string(info.values);
    if (info.repeatable) head += " (repeatable)";
    printf("%s\n      %.*s Default: %.*s.\n", head.c_str(), static_cast<int>(info.help.size()),
           info.help.data(), static_cast<int>(info.standard.size()), info.standard.data());
    if (!info.not_yet.empty()) {
      printf("      Not built yet: %.*s.\n", static_cast<int>(info.not_yet.size()), info.not_yet.data());
    }
  }
}

std::string CliVariable(const CommandLine& line) {
  std::vector<options::Pair> pairs = line.options;
  for (options::Pair& pair : pairs) {
    if (IsFile(pair)) pair.second = CurrentDirectory() + "/" + pair.second;
  }
  return options::FormatPairs(pairs);
}

tl::expected<options::Options, std::string> LoadOptions(const CommandLine& line) {
  options::Sources sources = options::FromEnvironment();
  sources.cli = options::FormatPairs(line.options);
  return options::Load(sources);
}

tl::expected<machine::Machine, std::string> CheckOptions(const options::Options& options) {
  auto checks = check::ParseChecks(options.check);
  if (!checks) return tl::unexpected(Located(options, "check", checks.error()));
  if (!options.suppress.empty()) {
    auto suppressions = check::Suppressions::Load(options.suppress);
    if (!suppressions) return tl::unexpected(Located(options, "suppress", suppressions.error()));
  }
  return machine::Machine::Build(options);
}

}  // namespace belay::tool
