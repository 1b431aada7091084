#include <cstdio>
#include <cstring>
#include <vector>

#include "command.h"
#include "options/nearest.h"

namespace belay::tool {

namespace {

constexpr Command kCommands[] = {
    {"run", "belay run [options] -- PROGRAM ARGS...",
     "Runs a program on an emulated machine and reports what it did.", RunCommand},
    {"doctor", "belay doctor [options]", "Shows every option and what Belay finds on this machine.",
     DoctorCommand},
    {"explain", "belay explain CODE|FINDING|API", "Explains a return code, a finding or a function.",
     ExplainCommand},
    {"products", "belay products [NAME]", "Lists the products that can be emulated, or the numbers of one.",
     ProductsCommand},
    {"info", "belay info", "Shows the running emulated machines."},
    {"topo", "belay topo [--svg FILE]", "Shows how the devices of a machine are linked.", TopoCommand},
    {"bw", "belay bw [--json FILE] [CASES...]", "Measures bandwidths."},
    {"explore", "belay explore [--runs N] -- PROGRAM", "Runs a program under many schedules."},
    {"play", "belay play LOG", "Repeats an API log."},
};

void PrintUsage(FILE* out) {
  fputs("belay: a software Ascend; it runs, tests and debugs AscendCL programs on a machine with no NPU\n\n",
        out);
  for (const Command& command : kCommands) {
    if (command.run == nullptr) continue;
    fprintf(out, "  %-42.*s%.*s\n", static_cast<int>(command.usage.size()), command.usage.data(),
            static_cast<int>(command.help.size()), command.help.data());
  }
  fputs("\nNot built yet:", out);
  for (const Command& command : kCommands) {
    if (command.run == nullptr)
      fprintf(out, " %.*s", static_cast<int>(command.name.size()), command.name.data());
  }
  fputs("\n\nEvery command has --help. Example: belay run --devices 4 --report out.json -- ./app\n", out);
}

int Main(Arguments arguments) {
  if (arguments.empty()) {
    PrintUsage(stderr);
    return kUsage;
  }
  const std::string_view name = arguments[0];
  if (name == "--help" || name == "-h" || name == "help") {
    PrintUsage(stdout);
    return 0;
  }
  if (name == "--version") {
    puts("belay " BELAY_VERSION);
    return 0;
  }
  if (name == "--man") return PrintManual();
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) {
    if (command.name == name) {
      if (command.run == nullptr) return Refuse("the command '" + std::string(name) + "' is not built yet");
      return command.run(arguments.subspan(1));
    }
    names.push_back(command.name);
  }
  return Refuse("there is no command '" + std::string(name) + "'; the nearest are " +
                options::Join(options::Nearest(name, names)));
}

}  // namespace

std::span<const Command> Commands() {
  return kCommands;
}

void Say(const std::string& text) {
  fflush(stdout);
  fprintf(stderr, "belay: %s\n", text.c_str());
}

int Refuse(const std::string& text) {
  Say("error: " + text);
  return kUsage;
}

}  // namespace belay::tool

int main(int argc, char** argv) {
  if (argc > 0 && std::string_view(basename(argv[0])) == "npu-smi") {
    return belay::tool::NpuSmi({argv + 1, static_cast<size_t>(argc - 1)});
  }
  return belay::tool::Main({argv + 1, static_cast<size_t>(argc > 0 ? argc - 1 : 0)});
}
