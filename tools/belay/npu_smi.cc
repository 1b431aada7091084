// The table of `npu-smi info`. Client builds take the chip from row 7, column 3 (libs.md §3); what an
// emulated device has no value for is NA.
#include <cstdio>
#include <string>

#include "command.h"
#include "machine/machine.h"
#include "options/options.h"

namespace belay::tool {

namespace {

// "910B3" of "Ascend910B3".
std::string ChipName(const machine::Machine& machine) {
  const std::string soc = machine.soc_name();
  const std::string vendor = "Ascend";
  return soc.starts_with(vendor) ? soc.substr(vendor.size()) : soc;
}

void PrintTable(const machine::Machine& machine) {
  constexpr char kLine[] =
      "+---------------------------+---------------+----------------------------------------------------+";
  constexpr char kDoubleLine[] =
      "+===========================+===============+====================================================+";
  const bool hbm = machine.memory_kind() == machine::MemoryKind::kHbm;
  const auto memory_mb = static_cast<unsigned long long>(machine.memory_bytes() >> 20);
  const std::string size = "0    / " + std::to_string(memory_mb);
  const std::string none = "0    / 0";

  puts("+------------------------------------------------------------------------------------------------+");
  printf("| %-95s|\n", ("npu-smi of Belay " BELAY_VERSION ", emulating " + machine.product().name).c_str());
  puts(kLine);
  printf("| %-26s| %-14s| %-51s|\n", "NPU   Name", "Health",
         "Power(W)    Temp(C)           Hugepages-Usage(page)");
  printf("| %-26s| %-14s| %-51s|\n", "Chip", "Bus-Id", "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)");
  puts(kDoubleLine);
  for (int device = 0; device < machine.device_count(); ++device) {
    printf("| %-6d%-20s| %-14s| %-12s%-18s%-21s|\n", device, ChipName(machine).c_str(), "OK", "NA", "NA",
           none.c_str());
    printf("| %-26d| %-14s| %-12s%-18s%-21s|\n", 0, "NA", "0", hbm ? none.c_str() : size.c_str(),
           hbm ? size.c_str() : none.c_str());
    puts(kLine);
  }
}

}  // namespace

int NpuSmi(Arguments arguments) {
  if (arguments.size() != 1 || std::string_view(arguments[0]) != "info") {
    return Refuse("this is npu-smi of Belay, a software Ascend; it knows `npu-smi info` only");
  }
  // As the library reads them, so that a build under `belay run` sees the machine of the run.
  auto options = options::Load(options::FromEnvironment());
  if (!options) return Refuse(options.error());
  auto machine = machine::Machine::Build(*options);
  if (!machine) return Refuse(machine.error());
  PrintTable(*machine);
  return 0;
}

}  // namespace belay::tool
