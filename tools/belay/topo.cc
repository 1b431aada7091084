#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "settings.h"
#include "topo_picture.h"

namespace belay::tool {

namespace {

using Json = nlohmann::ordered_json;
using machine::LinkRule;

// Wider tables break in a terminal.
constexpr int kMaxTableDevices = 32;

void PrintHelp() {
  puts(
      "belay topo [--json] [--svg FILE] [options of `belay run`]\n\n"
      "Shows which devices of the machine are linked, how fast, and between which peer access is possible; "
      "--svg also\n"
      "writes a picture. The machine is the one that the options describe: --product, --devices.\n\n"
      "Example: belay topo --product atlas-900-a3 --svg a3.svg");
}

// Small letters: a link without peer access.
std::string Code(const LinkRule& rule) {
  std::string code = LinkCode(rule.kind);
  if (!rule.peer)
    std::transform(code.begin(), code.end(), code.begin(), [](unsigned char c) { return tolower(c); });
  return code;
}

std::string Cell(const machine::Machine& machine, int a, int b) {
  if (a == b) return ".";
  const LinkRule* rule = machine.links().Rule(a, b);
  return rule != nullptr ? Code(*rule) : "-";
}

std::string Sourced(const machine::Marked<double>& number, const char* unit) {
  if (number.value == 0) return "unknown";
  return NumberText(number.value) + " " + unit + " (" + machine::MarkName(number.mark) + ")";
}

void PrintTable(const machine::Machine& machine) {
  const int devices = FirstNodeDevices(machine);
  const int per_node = machine.links().devices_per_node();
  printf("%s: %s\n", machine.product().name.c_str(), machine.product().title.c_str());
  if (machine.device_count() > per_node) {
    printf("%d devices: copies of this node of %d, with no link and no peer access between them\n",
           machine.device_count(), per_node);
  } else {
    printf("%d %s\n", machine.device_count(), machine.device_count() == 1 ? "device" : "devices");
  }
  if (devices > kMaxTableDevices) {
    puts("\nA table of pairs has room for 32 devices; see the links below.");
  } else if (devices > 1) {
    printf("\n      ");
    for (int b = 0; b < devices; ++b) printf("%5d", b);
    puts("");
    for (int a = 0; a < devices; ++a) {
      printf("%6d", a);
      for (int b = 0; b < devices; ++b) printf("%5s", Cell(machine, a, b).c_str());
      puts("");
    }
  }
  if (machine.product().links.empty()) {
    puts("\nno links, no peer access");
    return;
  }
  printf("\n%-4s  %-16s  %-23s  %-24s  %-20s  %s\n", "code", "link", "joins", "one direction", "latency",
         "peer access");
  for (const LinkRule& rule : machine.product().links) {
    const std::string joins =
        (rule.crosswise ? "same place, groups of " : "groups of ") + std::to_string(rule.group);
    printf("%-4s  %-16s  %-23s  %-24s  %-20s  %s\n", Code(rule).c_str(), LinkTitle(rule.kind), joins.c_str(),
           Sourced(rule.bandwidth_gbps, "GB/s").c_str(), Sourced(rule.latency_us, "us").c_str(),
           rule.peer ? "possible" : "no");
  }
  puts(
      "\nThe first line that holds for a pair decides. GB/s is 10^9 bytes a second. Codes in small letters: "
      "no peer access.");
}

Json ToJson(const machine::Machine& machine) {
  auto number = [](const machine::Marked<double>& marked) {
    return Json{{"value", marked.value == 0 ? Json() : Json(marked.value)},
                {"source", machine::MarkName(marked.mark)}};
  };
  Json pairs = Json::array();
  const int devices = FirstNodeDevices(machine);
  for (int a = 0; a < devices; ++a) {
    for (int b = a + 1; b < devices; ++b) {
      const LinkRule* rule = machine.links().Rule(a, b);
      if (rule == nullptr) continue;
      pairs.push_back({{"devices", {a, b}},
                       {"kind", machine::LinkKindName(rule->kind)},
                       {"peer", rule->peer},
                       {"bandwidth_gbps", number(rule->bandwidth_gbps)},
                       {"latency_us", number(rule->latency_us)}});
    }
  }
  return {{"product", machine.product().name},
          {"title", machine.product().title},
          {"devices", machine.device_count()},
          {"devices_per_node", machine.links().devices_per_node()},
          {"pairs", pairs}};
}

bool WriteFile(const std::string& path, const std::string& text, std::string& error) {
  FILE* file = fopen(path.c_str(), "we");
  bool good = file != nullptr && fwrite(text.data(), 1, text.size(), file) == text.size();
  if (!good) error = strerror(errno);
  if (file != nullptr && fclose(file) != 0 && good) {
    good = false;
    error = strerror(errno);
  }
  return good;
}

}  // namespace

int TopoCommand(Arguments arguments) {
  auto line = ParseCommandLine(arguments);
  if (!line) return Refuse(line.error());
  if (line->help) {
    PrintHelp();
    return 0;
  }
  if (!line->program.empty())
    return Refuse("topo takes options only, not '" + std::string(line->program[0]) + "'");
  std::optional<std::string> svg;
  std::erase_if(line->options, [&](const options::Pair& pair) {
    if (pair.first == "svg") svg = pair.second;
    return pair.first == "svg";
  });
  if (svg && svg->empty()) return Refuse("the option --svg needs a value: the file to write");
  auto options = LoadOptions(*line);
  if (!options) return Refuse(options.error());
  auto machine = CheckOptions(*options);
  if (!machine) return Refuse(machine.error());
  if (svg) {
    if (FirstNodeDevices(*machine) > kMaxDrawnDevices) {
      return Refuse("a picture has room for " + std::to_string(kMaxDrawnDevices) + " devices a node, and " +
                    machine->product().name + " has " + std::to_string(FirstNodeDevices(*machine)));
    }
    std::string error;
    if (!WriteFile(*svg, TopologySvg(*machine), error))
      return Refuse("cannot write '" + *svg + "': " + error);
  }
  if (line->json) {
    puts(ToJson(*machine).dump(1).c_str());
  } else {
    PrintTable(*machine);
  }
  if (svg) Say("wrote " + *svg);
  return 0;
}

}  // namespace belay::tool
