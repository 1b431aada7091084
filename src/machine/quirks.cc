#include "machine/quirks.h"

#include <vector>

#include "options/nearest.h"
#include "options/values.h"

namespace belay::machine {
namespace {

using options::ParseSwitch;

// Writes the value where it belongs; false when it is not an allowed one.
using Setter = bool (*)(Quirks& quirks, std::string_view value);

template <bool Quirks::*kField>
bool SetSwitch(Quirks& quirks, std::string_view value) {
  auto on = ParseSwitch(value);
  if (on) quirks.*kField = *on;
  return on.has_value();
}

bool SetCrossDevice(Quirks& quirks, std::string_view value) {
  quirks.event_cross_device = value == "allow";
  return value == "allow" || value == "off";
}

bool SetStreamExhaustCode(Quirks& quirks, std::string_view value) {
  if (value != "207008" && value != "207005") return false;
  quirks.stream_exhaust_code = value == "207008" ? 207008 : 207005;
  return true;
}

bool SetFatalAllocCode(Quirks& quirks, std::string_view value) {
  auto code = options::ParseWhole(value);
  if (!code || *code < 100000 || *code > 999999) return false;
  quirks.fatal_alloc_code = static_cast<int32_t>(*code);
  return true;
}

bool SetPhyIdByLogic(Quirks& quirks, std::string_view value) {
  quirks.phyid_by_logic = value == "logic";
  return value == "logic" || value == "user";
}

bool SetBadPathCode(Quirks& quirks, std::string_view value) {
  quirks.init_bad_path_code = value == "107000" ? 107000 : 100003;
  return value == "107000" || value == "100003";
}

bool SetResetCounting(Quirks& quirks, std::string_view value) {
  quirks.reset_counting_old = value == "old";
  return value == "old" || value == "new";
}

bool SetHostPinLimit(Quirks& quirks, std::string_view value) {
  auto limit = value == "none" ? 0 : options::ParseSize(value);
  if (limit) quirks.host_pin_limit = *limit;
  return limit.has_value();
}

struct Row {
  QuirkInfo info;
  Setter set;  // null: not built, only the default is accepted
};

constexpr Row kRows[] = {
    {{"event.cross_device", "off, allow", "off",
      "Ordinary events may be recorded and waited for across devices."},
     SetCrossDevice},
    {{"peer.require_both", "false, true", "false",
      "A cross-device copy needs peer access in both directions."},
     SetSwitch<&Quirks::peer_require_both>},
    {{"peer.lenient", "false, true", "false",
      "A cross-device copy without peer access goes through the host with a warning."},
     SetSwitch<&Quirks::peer_lenient>},
    {{"stream_exhaust_code", "207008, 207005", "207008", "The code when a device has no stream left."},
     SetStreamExhaustCode},
    {{"reset_counting", "new, old", "new", "Old: one aclrtResetDevice releases, whatever the count."},
     SetResetCounting},
    {{"host_pin_limit", "none, size", "none", "The largest pinned block that can be allocated."},
     SetHostPinLimit},
    {{"strict_init", "off, on", "off", "Calls before aclInit fail with 100001."},
     SetSwitch<&Quirks::strict_init>},
    {{"phyid_by_logic", "user, logic", "user", "How aclrtGetPhyDevIdByLogicDevId reads its argument."},
     SetPhyIdByLogic},
    {{"init.bad_path_code", "100003, 107000", "100003", "The code of aclInit when its file is missing."},
     SetBadPathCode},
    {{"fatal_alloc_code", "207001, or another code", "207001",
      "The code of allocations after a sticky device fault."},
     SetFatalAllocCode},
    {{"callback_strict", "off, on", "off", "Every runtime call in a host function fails."},
     SetSwitch<&Quirks::callback_strict>},
    {{"ptrattr.strict", "off, on", "off", "Attributes of an unknown pointer are an error."},
     SetSwitch<&Quirks::ptrattr_strict>},

    {{"kernels", "fail, skip", "fail", "What a launch of an unregistered kernel does.", false}, nullptr},
    {{"strict_symbols", "off, on", "off", "Hides the functions that are newer than the version.", false},
     nullptr},
    {{"pools", "off, on", "off", "Memory pools exist.", false}, nullptr},
    {{"managed", "off, on", "off", "Managed memory exists.", false}, nullptr},
    {{"ipc.key_needs_hccs", "off, on", "off", "Memory keys need an HCCS link between the devices.", false},
     nullptr},
    {{"kernel_blocks_parallel", "off, on", "off", "The blocks of a kernel run on several workers.", false},
     nullptr},
    {{"exc_args_len", "length, count", "length", "What the argument length of an exception means.", false},
     nullptr},
    {{"allow_reserved", "off, on", "off", "Reserved functions of the version work.", false}, nullptr},
    {{"fatal_clear", "reset-or-repair", "reset-or-repair", "What ends a sticky device fault.", false},
     nullptr},
    {{"kernel_device_strict", "off, on", "off", "A kernel runs only on the device that loaded it.", false},
     nullptr},
    {{"capture_violation_invalidates", "off, on", "on", "A refused call makes the open capture invalid.",
      false},
     nullptr},
};

bool IsDefault(const QuirkInfo& info, std::string_view value) {
  auto on = ParseSwitch(info.standard);
  return value == info.standard || (on && ParseSwitch(value) == on);
}

const Row* FindRow(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.info.name == name) return &row;
  }
  return nullptr;
}

std::string Nearest(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Row& row : kRows) names.push_back(row.info.name);
  return options::Join(options::Nearest(name, names));
}

}  // namespace

std::span<const QuirkInfo> QuirkTable() {
  static const std::vector<QuirkInfo> table = [] {
    std::vector<QuirkInfo> infos;
    for (const Row& row : kRows) infos.push_back(row.info);
    return infos;
  }();
  return table;
}

tl::expected<void, std::string> SetQuirk(Quirks& quirks, std::string_view name, std::string_view value) {
  const std::string quoted = "quirk '" + std::string(name) + "'";
  const Row* row = FindRow(name);
  if (row == nullptr) return tl::unexpected(quoted + " does not exist; the nearest are " + Nearest(name));
  if (row->set == nullptr) {
    if (IsDefault(row->info, value)) return {};
    return tl::unexpected(quoted + " is not built yet; only its default '" + std::string(row->info.standard) +
                          "' works");
  }
  Quirks changed = quirks;
  if (!row->set(changed, value)) {
    return tl::unexpected(quoted + ": '" + std::string(value) + "' must be one of " +
                          std::string(row->info.values));
  }
  quirks = changed;
  return {};
}

}  // namespace belay::machine
