#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "command.h"
#include "library.h"
#include "memory/address_space.h"
#include "options/table.h"
#include "options/text_file.h"
#include "options/values.h"
#include "os/host_ram.h"
#include "os/symbolizer.h"
#include "os/thread.h"
#include "settings.h"

namespace belay::tool {

namespace {

using Json = nlohmann::ordered_json;

void PrintHelp() {
  puts(
      "belay doctor [--json] [options of `belay run`]\n\n"
      "Prints every option with its value and where it came from, what is not built yet, and what Belay "
      "finds on this\n"
      "machine. Exits with 2 when an option is wrong or the library is missing.\n\n"
      "Example: BELAY=\"devices=4\" belay doctor --cann 8.5");
}

Json OptionsJson(const options::Options& options) {
  Json list = Json::array();
  for (const options::Origin& origin : options.origins) {
    list.push_back(
        {{"name", origin.name}, {"value", origin.value}, {"from", options::SourceName(origin.source)}});
  }
  return list;
}

Json NotBuilt() {
  Json values = Json::object();
  for (const options::OptionInfo& info : options::Table()) {
    if (!info.not_yet.empty()) values[std::string(info.name)] = info.not_yet;
  }
  Json findings = Json::array();
  for (int i = 0; i < static_cast<int>(check::FindingId::kCount); ++i) {
    const check::FindingKind& kind = check::Kind(static_cast<check::FindingId>(i));
    if (!kind.built) findings.push_back(kind.id);
  }
  Json commands = Json::array();
  for (const Command& command : Commands()) {
    if (command.run == nullptr) commands.push_back(command.name);
  }
  return {{"options", values}, {"findings", findings}, {"commands", commands}};
}

Json MachineJson(const machine::Machine& machine) {
  return {{"product", machine.product().name},
          {"title", machine.product().title},
          {"cann", facts::CannName(machine.cann())},
          {"family", facts::FamilyName(machine.family())},
          {"soc", machine.soc_name()},
          {"devices", machine.device_count()},
          {"memory_bytes_per_device", machine.memory_bytes()}};
}

std::string HugePages() {
  auto text = options::ReadTextFile("/sys/kernel/mm/transparent_hugepage/enabled");
  if (!text) return "unknown";
  size_t open = text->find('[');
  size_t close = text->find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return "unknown";
  return text->substr(open + 1, close - open - 1);
}

Json HereJson(const options::Options& options, const machine::Machine* machine) {
  const int cores = os::CoreCount();
  Json here = {
      {"library", LibraryDirectory() + "/" + kLibraryName},
      {"library_found", LibraryExists()},
      {"cores", cores},
      {"workers", options.workers >= 0 ? options.workers
                  : cores > 1          ? cores - 1
                                       : 1},
      {"host_memory_bytes",
       options.host_memory_bytes != 0 ? options.host_memory_bytes : os::DefaultHostMemory()},
      {"huge_pages", HugePages()},
      {"call_sites", os::HasDebugInfoReader() ? "function, file and line" : "module and offset only"}};
  if (machine != nullptr) {
    memory::AddressSpace space;
    Json plan;  // null: it does not fit
    if (space.Reserve(machine->device_count(), machine->memory_bytes())) {
      char base[24];
      snprintf(base, sizeof base, "0x%llx", static_cast<unsigned long long>(space.window().base));
      plan = {{"window", base},
              {"window_bytes", space.window().bytes},
              {"share_bytes", space.share_bytes()},
              {"share_holds_the_memory", space.share_bytes() >= machine->memory_bytes()}};
    }
    here["address_plan"] = plan;
  }
  return here;
}

std::string SizeOf(const Json& bytes) {
  return options::FormatSize(bytes.get<uint64_t>());
}

void PrintList(const char* label, const Json& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name.get<std::string>();
  printf("  %-20s%s\n", label, text.empty() ? "nothing" : text.c_str());
}

void PrintText(const Json& all) {
  puts("Options");
  for (const auto& option : all["options"]) {
    printf("  %-20s%-44s from %s\n", option["name"].get<std::string>().c_str(),
           option["value"].get<std::string>().c_str(), option["from"].get<std::string>().c_str());
  }
  puts("\nNot built yet");
  for (const auto& [name, values] : all["not_built"]["options"].items()) {
    printf("  %-20s%s\n", name.c_str(), values.get<std::string>().c_str());
  }
  PrintList("findings", all["not_built"]["findings"]);
  PrintList("commands", all["not_built"]["commands"]);
  if (const Json& machine = all["machine"]; !machine.is_null()) {
    puts("\nEmulated machine");
    printf("  %-20s%s: %s\n", "product", machine["product"].get<std::string>().c_str(),
           machine["title"].get<std::string>().c_str());
    printf("  %-20s%d x %s, family %s, %s each\n", "devices", machine["devices"].get<int>(),
           machine["soc"].get<std::string>().c_str(), machine["family"].get<std::string>().c_str(),
           SizeOf(machine["memory_bytes_per_device"]).c_str());
  }
  const Json& here = all["here"];
  puts("\nThis machine");
  printf("  %-20s%s%s\n", "library", here["library"].get<std::string>().c_str(),
         here["library_found"].get<bool>() ? "" : " (MISSING)");
  printf("  %-20s%d\n", "cores", here["cores"].get<int>());
  printf("  %-20s%d\n", "workers", here["workers"].get<int>());
  printf("  %-20s%llu MiB may hold device bytes\n", "host memory",
         static_cast<unsigned long long>(here["host_memory_bytes"].get<uint64_t>() >> 20));
  printf("  %-20s%s\n", "huge pages", here["huge_pages"].get<std::string>().c_str());
  printf("  %-20s%s\n", "call sites", here["call_sites"].get<std::string>().c_str());
  if (!here.contains("address_plan")) return;
  const Json& plan = here["address_plan"];
  if (plan.is_null()) {
    printf("  %-20sthe device addresses do not fit; look at ulimit -v\n", "address plan");
    return;
  }
  printf("  %-20swindow at %s, %s a device%s\n", "address plan", plan["window"].get<std::string>().c_str(),
         SizeOf(plan["share_bytes"]).c_str(),
         plan["share_holds_the_memory"].get<bool>() ? "" : "; a single allocation cannot be larger");
}

}  // namespace

int DoctorCommand(Arguments arguments) {
  auto line = ParseCommandLine(arguments);
  if (!line) return Refuse(line.error());
  if (line->help) {
    PrintHelp();
    return 0;
  }
  if (!line->program.empty()) return Refuse("doctor runs no program; it takes options only");
  int result = LibraryExists() ? 0 : kUsage;
  auto options = LoadOptions(*line);
  if (!options) {
    result = Refuse(options.error());
    options = options::Load({});  // the rest is shown for the defaults
  }
  if (!options) return result;
  auto machine = CheckOptions(*options);
  if (!machine) result = Refuse(machine.error());
  const Json all = {{"options", OptionsJson(*options)},
                    {"not_built", NotBuilt()},
                    {"machine", machine ? MachineJson(*machine) : Json()},
                    {"here", HereJson(*options, machine ? &*machine : nullptr)}};
  if (line->json) {
    puts(all.dump(1).c_str());
  } else {
    PrintText(all);
  }
  return result;
}

}  // namespace belay::tool
