#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "check/report_writer.h"
#include "check/run_page.h"
#include "child.h"
#include "command.h"
#include "library.h"
#include "not_loaded.h"
#include "settings.h"

namespace belay::tool {

namespace {

using check::RunPage;
using check::Severity;

void PrintHelp() {
  puts(
      "belay run [options] -- PROGRAM ARGS...\n\n"
      "Runs PROGRAM with Belay's libascendcl.so. Findings are printed as they happen; the last line sums "
      "up.\n"
      "The exit code is the program's (128 + n for a signal), 87 when it exits with 0 and an error was "
      "found, 2 when\n"
      "an option is wrong or nothing loaded the library, 126 or 127 when PROGRAM cannot be started.\n\n"
      "Options can also stand in BELAY=\"name=value; name=value\" and in the TOML file that BELAY_CONFIG "
      "names.\n");
  PrintOptions();
  puts(
      "\nExamples:\n"
      "  belay run -- ./app --batch 4\n"
      "  belay run --product atlas-300i-duo --report out.json -- python3 train.py\n"
      "  belay run --check basic,-slow-pattern --on-finding abort -- ./app");
}

std::string Counted(uint64_t number, const char* one, const char* many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::string Summary(const RunPage& page, const ChildEnd& end, const options::Options& options) {
  const check::RunTotals totals = page.totals();
  std::string text;
  if (end.signal != 0) text += "ended by " + SignalName(end.signal) + "; ";
  text += Counted(page.count(Severity::kError), "error", "errors") + ", ";
  text += Counted(page.count(Severity::kWarning), "warning", "warnings") + ", ";
  text += Counted(totals.calls, "call", "calls") + ", ";
  text += Counted(totals.copies, "copy", "copies") + ", ";
  text += Counted(totals.bytes, "byte", "bytes") + ", ";
  text += std::to_string(page.devices_opened()) + " of " + Counted(page.devices(), "device", "devices");
  for (const std::string& file : options.reports) text += ", report " + file;
  // No advice that would be refused.
  if (totals.unguarded_copies > 0 && check::ParseChecks("full")) {
    text += "; " +
            Counted(totals.unguarded_copies, "asynchronous host copy was", "asynchronous host copies were") +
            " not guarded: try --check full";
  }
  return text;
}

std::string SearchPath() {
  const char* before = getenv("LD_LIBRARY_PATH");
  std::string path = LibraryDirectory();
  if (before != nullptr && before[0] != '\0') path += std::string(":") + before;
  return path;
}

}  // namespace

int RunCommand(Arguments arguments) {
  auto line = ParseCommandLine(arguments);
  if (!line) return Refuse(line.error());
  if (line->help) {
    PrintHelp();
    return 0;
  }
  if (line->json) return Refuse("run has no --json; --report FILE.json writes a report");
  auto options = LoadOptions(*line);
  if (!options) return Refuse(options.error());
  auto machine = CheckOptions(*options);
  if (!machine) return Refuse(machine.error());
  if (line->program.empty()) return Refuse("no program: belay run [options] -- PROGRAM ARGS...");
  if (!LibraryExists()) {
    return Refuse("there is no " + std::string(kLibraryName) + " in " + LibraryDirectory() +
                  ", where it belongs to this tool");
  }
  auto page = RunPage::Create();
  if (!page) return Refuse(page.error());

  std::vector<std::string> command(line->program.begin(), line->program.end());
  const std::string search_path = SearchPath();
  const ChildEnd end = RunChild(
      command, {{"LD_LIBRARY_PATH", search_path},
                {"BELAY_CLI", CliVariable(*line)},
                {"BELAY_RUN", "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(page->fd())}});
  if (!end.not_found.empty()) {
    Say("error: " + end.not_found);
    return end.status;
  }
  bool reports_written = true;
  for (const std::string& file : options->reports) {
    std::string error = check::WriteReport(file, *page, {.command = command, .exit_status = end.status});
    if (error.empty()) continue;
    Say("error: " + error);
    reports_written = false;
  }
  if (page->loaded() == 0 && page->processes() == 0) {
    std::string program = FindProgram(command[0]);
    return Refuse((end.signal != 0 ? "the program was ended by " + SignalName(end.signal)
                                   : "the program exited with " + std::to_string(end.status)) +
                  ", but " +
                  ExplainNotLoaded(program.empty() ? command[0] : program, LibraryDirectory(), search_path));
  }
  if (!options->quiet) Say(Summary(*page, end, *options));
  if (end.status != 0) return end.status;
  if (page->count(Severity::kError) > 0) return options->findings_exit_code;
  return reports_written ? 0 : kUsage;
}

}  // namespace belay::tool
