// The reporter: takes findings from anywhere in the library, drops what nobody wants, prints each one once
// and keeps it for the report files.
//
// Guarantees: Report() allocates nothing and takes no lock that it waits for without a bound, so the fault
// handler
//   may call it. A repeat (same id, site and first related site) is counted and not reprinted.
// Threading: everything may be called from any thread.
// Cost: Wants() is one relaxed load. A first report symbolises its sites (milliseconds), a repeat costs a
// table
//   look-up.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/checks.h"
#include "check/finding.h"
#include "check/run_page.h"
#include "check/suppressions.h"
#include "options/options.h"
#include "os/symbolizer.h"

namespace belay::check {

using options::Color;
using options::OnFinding;
struct ResolvedFinding;

struct ReporterConfig {
  CheckSet checks = CheckSet::Basic();
  OnFinding on_finding = OnFinding::kContinue;  // follows errors only
  std::string suppress_file;                    // empty = none
  std::vector<std::string> report_files;
  bool quiet = false;  // prints errors only; reports and counts stay
  Color color = Color::kAuto;
  std::vector<std::string> command;
  std::string product;
  std::string cann;
  uint32_t devices = 0;
  const char* run_path = nullptr;  // the value of BELAY_RUN
  int output = 2;                  // where the text goes
  os::Symbol (*symbolize)(uint64_t return_address, os::SymbolContext context) = os::Symbolize;
};

class Reporter {
 public:
  // Reads the suppressions, refuses unknown kinds of report files, maps and joins the run page.
  static tl::expected<std::unique_ptr<Reporter>, std::string> Create(ReporterConfig config);
  ~Reporter();

  bool Wants(FindingId id) const {
    return CheckSet::FromBits(wanted_.load(std::memory_order_relaxed)).Has(id);
  }

  void Report(const Finding& finding) { Report(finding, os::SymbolContext::kNormal); }
  // In a signal handler; needs 32 KiB of stack.
  void ReportFromSignal(const Finding& finding) { Report(finding, os::SymbolContext::kSignal); }

  // Distinct findings.
  uint64_t count(Severity severity) const { return page_.count(severity); }
  RunPage& page() { return page_; }

  // Writes the report files, unless `belay run` will. Returns false, and says so on stderr, when one fails.
  bool WriteReports(std::optional<int> exit_status);

 private:
  struct Entry;
  struct Scratch;

  Reporter(ReporterConfig config, Suppressions suppressions, RunPage page);
  void Report(const Finding& finding, os::SymbolContext context);
  void ReportFirst(const Finding& finding, Entry* entry, os::SymbolContext context);
  Entry* FindEntry(uint64_t key, bool* first);
  void AddRepeats(Entry* entry);
  Scratch* AcquireScratch();
  uint32_t Store(const ResolvedFinding& resolved);
  void Stop(os::SymbolContext context);
  bool UseColor() const;
  bool Prints(Severity severity) const { return severity == Severity::kError || !config_.quiet; }

  ReporterConfig config_;
  Suppressions suppressions_;
  RunPage page_;
  std::atomic<uint64_t> wanted_;
  std::atomic<bool> overflow_said_ = false;
  std::unique_ptr<Entry[]> entries_;
  std::unique_ptr<Scratch[]> scratches_;
  bool color_ = false;
};

}  // namespace belay::check

// Called with each first report of a finding, after it was printed: a place for a breakpoint.
extern "C" __attribute__((visibility("default"), noinline)) void belay_on_finding(const char* id,
                                                                                  const char* text);
