#include "options/table.h"

#include <vector>

#include "options/nearest.h"
#include "options/options.h"
#include "options/values.h"

namespace belay::options {
namespace {

constexpr std::string_view kNone = "none";

tl::unexpected<std::string> Must(std::string rule) {
  return tl::unexpected<std::string>("must be " + rule);
}

tl::unexpected<std::string> NotBuilt(std::string_view built) {
  std::string text = "is not built yet";
  if (!built.empty()) text.append("; built: ").append(built);
  return tl::unexpected(text);
}

Verdict SetWhole(std::string_view text, uint64_t low, uint64_t high, uint64_t& value) {
  auto whole = ParseWhole(text);
  if (!whole || *whole < low || *whole > high) {
    return Must("a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  value = *whole;
  return {};
}

Verdict SetInt(std::string_view text, int low, int high, int& value) {
  uint64_t whole = 0;
  Verdict verdict = SetWhole(text, low, high, whole);
  if (verdict) value = static_cast<int>(whole);
  return verdict;
}

Verdict SetSize(std::string_view text, uint64_t& value) {
  auto size = ParseSize(text);
  if (!size || *size == 0) return Must(std::string(kSizeForm) + ", and more than 0");
  value = *size;
  return {};
}

Verdict SetText(std::string_view text, std::string_view what, std::string& value) {
  if (text.empty()) return Must(std::string(what));
  value = text == kNone ? "" : text;
  return {};
}

template <class E>
struct Word {
  std::string_view word;
  E value;
};

template <class E, size_t N>
Verdict SetWord(std::string_view text, const Word<E> (&words)[N], E& value) {
  std::string allowed;
  for (size_t i = 0; i < N; ++i) {
    if (words[i].word == text) {
      value = words[i].value;
      return {};
    }
    allowed.append(i == 0 ? "" : i + 1 == N ? " or " : ", ").append(words[i].word);
  }
  return Must(allowed);
}

Verdict SetProduct(Options& options, std::string_view text) {
  if (text.empty()) return Must("a product's name, or the path of a TOML file");
  options.product = text;
  return {};
}

Verdict SetCann(Options& options, std::string_view text) {
  static constexpr Word<facts::Cann> kWords[] = {{"8.1", facts::Cann::k81},
                                                 {"8.5", facts::Cann::k85},
                                                 {"9.0", facts::Cann::k90},
                                                 {"9.1", facts::Cann::k91}};
  return SetWord(text, kWords, options.cann);
}

Verdict AddQuirk(Options& options, std::string_view text) {
  size_t equals = text.find('=');
  if (equals == 0 || equals >= text.size() - 1) return Must("NAME=VALUE, such as event.cross_device=allow");
  options.quirks.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  return {};
}

Verdict SetDevices(Options& options, std::string_view text) {
  return SetInt(text, 1, 1024, options.devices);
}
Verdict SetHbm(Options& options, std::string_view text) {
  return SetSize(text, options.hbm_bytes);
}
Verdict SetHostMemory(Options& options, std::string_view text) {
  return SetSize(text, options.host_memory_bytes);
}

Verdict SetSchedule(Options& options, std::string_view text) {
  static constexpr Word<Schedule> kWords[] = {
      {"async", Schedule::kAsync}, {"eager", Schedule::kEager}, {"on-wait", Schedule::kOnWait}};
  if (text.starts_with("random:") || text.starts_with("pct:") || text.starts_with("replay:")) {
    return NotBuilt("async, eager, on-wait");
  }
  return SetWord(text, kWords, options.schedule);
}

Verdict SetWorkers(Options& options, std::string_view text) {
  return SetInt(text, 0, 64, options.workers);
}

Verdict SetStreamDepth(Options& options, std::string_view text) {
  uint64_t depth = 0;
  Verdict verdict = SetWhole(text, 0, UINT32_MAX, depth);
  if (verdict && depth != 0) return NotBuilt("0 (no limit)");
  if (verdict) options.stream_depth = depth;
  return verdict;
}

Verdict SetCheck(Options& options, std::string_view text) {
  if (text.empty()) return Must("off, basic, full, or a list such as basic,+guard,-leak");
  options.check = text;
  return {};
}

Verdict SetSites(Options& options, std::string_view text) {
  int sites = 0;
  Verdict verdict = SetInt(text, 1, 64, sites);
  if (verdict && sites != 1) return NotBuilt("1");
  if (verdict) options.sites = sites;
  return verdict;
}

Verdict SetOnFinding(Options& options, std::string_view text) {
  static constexpr Word<OnFinding> kWords[] = {
      {"continue", OnFinding::kContinue}, {"abort", OnFinding::kAbort}, {"trap", OnFinding::kTrap}};
  return SetWord(text, kWords, options.on_finding);
}

Verdict SetSuppress(Options& options, std::string_view text) {
  return SetText(text, "a file of suppressions, or none", options.suppress);
}

Verdict SetStallAfter(Options& options, std::string_view text) {
  auto seconds = ParseDecimal(text);
  if (!seconds || *seconds > 1e6) return Must("a number of seconds from 0 to 1000000, such as 10 or 0.5");
  options.stall_after_seconds = *seconds;
  return {};
}

Verdict SetTime(Options& options, std::string_view text) {
  if (text == "virtual" || text == "virtual+host") return NotBuilt("wall");
  if (text != "wall") return Must("wall, virtual or virtual+host");
  options.time = text;
  return {};
}

Verdict RefuseFile(Options&, std::string_view text) {
  if (text == kNone) return {};
  return NotBuilt("none");
}

Verdict RefuseNode(Options&, std::string_view) {
  return NotBuilt("");
}

Verdict SetLog(Options& options, std::string_view text) {
  return SetText(text, "an output file, or none", options.log);
}

Verdict AddReport(Options& options, std::string_view text) {
  if (text == kNone) return {};
  if (text.ends_with(".sarif") || text.ends_with(".html")) return NotBuilt(".json");
  if (!text.ends_with(".json") || text == ".json") return Must("an output file that ends in .json, or none");
  options.reports.emplace_back(text);
  return {};
}

Verdict SetFindingsExitCode(Options& options, std::string_view text) {
  return SetInt(text, 0, 255, options.findings_exit_code);
}

Verdict SetUnsupported(Options& options, std::string_view text) {
  static constexpr Word<Unsupported> kWords[] = {{"error", Unsupported::kError},
                                                 {"abort", Unsupported::kAbort}};
  return SetWord(text, kWords, options.unsupported);
}

Verdict SetQuiet(Options& options, std::string_view text) {
  auto quiet = ParseSwitch(text);
  if (!quiet) return Must("on or off");
  options.quiet = *quiet;
  return {};
}

Verdict SetColor(Options& options, std::string_view text) {
  static constexpr Word<Color> kWords[] = {{"auto", Color::kAuto}, {"on", Color::kOn}, {"off", Color::kOff}};
  return SetWord(text, kWords, options.color);
}

constexpr OptionInfo kTable[] = {
    {"product", "a name from `belay products`, or a path to a TOML file", "atlas-800t-a2",
     "The server that is emulated.", SetProduct},
    {"cann", "8.1, 8.5, 9.0, 9.1", "9.0", "The CANN version whose behaviour is shown.", SetCann},
    {"quirk", "NAME=VALUE", "the product's [quirks]",
     "Overrides one profile key, such as event.cross_device=allow.", AddQuirk, true},
    {"devices", "1..1024", "the product's count", "How many devices the machine has.", SetDevices},
    {"hbm", "size per device, such as 8GiB", "the product's", "Device memory that a program can allocate.",
     SetHbm},
    {"host-memory", "size", "min(cgroup limit, 80 % of what is available)",
     "Host RAM that the bytes of all devices may take.", SetHostMemory},
    {"schedule", "async, eager, on-wait, random:SEED, pct:SEED:DEPTH, replay:FILE", "async",
     "When the effect of a submission lands.", SetSchedule, false, true,
     "random:SEED, pct:SEED:DEPTH, replay:FILE"},
    {"workers", "0..64", "cores - 1, at least 1", "Threads that execute queued operations.", SetWorkers},
    {"stream-depth", "operations, 0 = no limit", "0",
     "How many operations a stream queues before a submission blocks.", SetStreamDepth, false, true,
     "every number but 0"},
    {"check", "off, basic, full, or a list such as basic,+guard,-leak", "basic",
     "Which findings are looked for.", SetCheck},
    {"sites", "frames", "1; 8 in full", "Call-site frames that are recorded per call.", SetSites, false, true,
     "every number but 1"},
    {"on-finding", "continue, abort, trap", "continue",
     "What follows an error finding; trap stops in belay_on_finding, a place for breakpoints.", SetOnFinding},
    {"suppress", "file, none", "none", "A file of findings that are not to be reported.", SetSuppress},
    {"stall-after", "seconds", "10", "How long a wait that may never end stays unreported.", SetStallAfter},
    {"time", "wall, virtual, virtual+host", "wall", "The clock that devices and events use.", SetTime, false,
     true, "virtual, virtual+host"},
    {"fault", "file (TOML), none", "none", "A plan of faults to inject.", RefuseFile, true, false, "files"},
    {"trace", "file, none", "none", "Writes a trace; .json is Chrome trace format.", RefuseFile, false, false,
     "files"},
    {"log", "file, none", "none", "Writes every API call and scheduling decision, one JSON object a line.",
     SetLog},
    {"report", "file (.json, .sarif, .html), none", "none", "Writes the findings to a file.", AddReport, true,
     true, ".sarif and .html files"},
    {"findings-exit-code", "0..255", "87",
     "The exit code of `belay run` when the program exits with 0 and an error finding exists.",
     SetFindingsExitCode},
    {"node", "name", "one per `belay run`", "Processes that name the same node share one machine.",
     RefuseNode, false, false, "names"},
    {"unsupported", "error, abort", "error",
     "Whether a call that the product or version lacks returns its code or ends the program.",
     SetUnsupported},
    {"quiet", "on, off", "off", "Prints error findings only, and no summary.", SetQuiet},
    {"color", "auto, on, off", "auto", "Whether findings are coloured.", SetColor},
};

}  // namespace

std::span<const OptionInfo> Table() {
  return kTable;
}

const OptionInfo* Find(std::string_view name) {
  for (const OptionInfo& info : kTable) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

std::string NearestOptions(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OptionInfo& info : kTable) names.push_back(info.name);
  return Join(Nearest(name, names));
}

}  // namespace belay::options
