#include "check/reporter.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "check/finding_text.h"
#include "check/report_writer.h"
#include "os/futex.h"

extern "C" void belay_on_finding(const char* id, const char* text) {
  // Keeps the call and both arguments alive for the debugger.
  asm volatile("" : : "r"(id), "r"(text) : "memory");
}

namespace belay::check {

namespace {

constexpr uint32_t kEntries = 4096;  // a power of two
constexpr uint32_t kProbes = 64;
constexpr int kScratches = 16;
constexpr size_t kJsonCapacity = 32 * 1024;

constexpr uint32_t kPending = RunPage::kNoFinding;
constexpr uint32_t kUnstored = RunPage::kNoFinding - 1;  // suppressed, or the page was full

void HashBytes(uint64_t* hash, const void* data, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    *hash = (*hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  }
}

// What makes two findings the same one. Without a site only the words tell them apart.
uint64_t KeyOf(const Finding& finding) {
  uint64_t hash = 14695981039346656037u;
  HashBytes(&hash, &finding.id, sizeof finding.id);
  HashBytes(&hash, &finding.severity, sizeof finding.severity);
  HashBytes(&hash, &finding.where.site.value, sizeof finding.where.site.value);
  if (finding.related_count > 0) {
    HashBytes(&hash, &finding.related[0].site.value, sizeof finding.related[0].site.value);
  }
  if (!finding.where.site.known()) {
    if (finding.where.api != nullptr) HashBytes(&hash, finding.where.api, strlen(finding.where.api));
    HashBytes(&hash, finding.message.view().data(), finding.message.size());
  }
  return hash == 0 ? 1 : hash;
}

void WriteAll(int fd, std::string_view text) {
  int waits = 0;
  while (!text.empty()) {
    ssize_t written = write(fd, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (written < 0 && errno == EAGAIN && waits++ < 10) {
      pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, 100);
    } else if (written == 0 || errno != EINTR) {
      return;
    }
  }
}

}  // namespace

struct Reporter::Entry {
  std::atomic<uint64_t> key = 0;            // 0 = free
  std::atomic<uint32_t> stored = kPending;  // index in the run page
  std::atomic<uint64_t> repeats = 0;        // not yet added to the page
};

struct Reporter::Scratch {
  std::atomic<bool> taken = false;
  ResolvedFinding resolved;
  FindingText text;
};

tl::expected<std::unique_ptr<Reporter>, std::string> Reporter::Create(ReporterConfig config) {
  Suppressions suppressions;
  if (!config.suppress_file.empty()) {
    auto loaded = Suppressions::Load(config.suppress_file);
    if (!loaded) return tl::unexpected(loaded.error());
    suppressions = std::move(*loaded);
  }
  for (const std::string& file : config.report_files) {
    std::string refusal = RefuseReportFile(file);
    if (!refusal.empty()) return tl::unexpected(refusal);
  }
  auto page = RunPage::Open(config.run_path);
  if (!page) return tl::unexpected(page.error());
  return std::unique_ptr<Reporter>(
      new Reporter(std::move(config), std::move(suppressions), std::move(*page)));
}

Reporter::Reporter(ReporterConfig config, Suppressions suppressions, RunPage page)
    : config_(std::move(config)),
      suppressions_(std::move(suppressions)),
      page_(std::move(page)),
      entries_(new Entry[kEntries]),
      scratches_(new Scratch[kScratches]) {
  wanted_.store(config_.checks.bits() & ~suppressions_.everywhere().bits(), std::memory_order_relaxed);
  color_ = UseColor();
  page_.AddProcess();
  page_.SetProfile(config_.product, config_.cann, config_.devices);
}

Reporter::~Reporter() = default;

bool Reporter::UseColor() const {
  if (config_.color != Color::kAuto) return config_.color == Color::kOn;
  const char* terminal = getenv("TERM");
  const char* refused = getenv("NO_COLOR");
  bool dumb = terminal == nullptr || strcmp(terminal, "dumb") == 0;
  return isatty(config_.output) == 1 && !dumb && (refused == nullptr || refused[0] == '\0');
}

void Reporter::Report(const Finding& finding, os::SymbolContext context) {
  if (!Wants(finding.id)) return;
  const int saved_errno = errno;  // the program's own call may be looking at it
  bool first = false;
  Entry* entry = FindEntry(KeyOf(finding), &first);
  if (entry == nullptr) {
    page_.CountLost(finding.severity);
    if (!overflow_said_.exchange(true, std::memory_order_relaxed) && !config_.quiet) {
      WriteAll(config_.output,
               "belay: warning: too many different findings; further ones are only counted\n");
    }
  } else if (!first) {
    entry->repeats.fetch_add(finding.times, std::memory_order_acq_rel);
    AddRepeats(entry);
  } else {
    entry->repeats.fetch_add(finding.times - 1, std::memory_order_acq_rel);
    ReportFirst(finding, entry, context);
    AddRepeats(entry);
  }
  errno = saved_errno;
}

// Open addressing; entries are never removed.
Reporter::Entry* Reporter::FindEntry(uint64_t key, bool* first) {
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    Entry& entry = entries_[(key + probe) & (kEntries - 1)];
    uint64_t there = entry.key.load(std::memory_order_relaxed);
    if (there == 0 && entry.key.compare_exchange_strong(there, key, std::memory_order_relaxed)) {
      *first = true;
      return &entry;
    }
    if (there == key) return &entry;
  }
  return nullptr;
}

// Repeats that came before the first report was stored wait in the entry; whoever comes later moves them.
void Reporter::AddRepeats(Entry* entry) {
  const uint32_t stored = entry->stored.load(std::memory_order_acquire);
  if (stored == kPending) return;
  const uint64_t repeats = entry->repeats.exchange(0, std::memory_order_acq_rel);
  if (repeats > 0 && stored != kUnstored) page_.CountRepeats(stored, repeats);
}

Reporter::Scratch* Reporter::AcquireScratch() {
  constexpr int kRounds = 10'000;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kScratches; ++i) {
      if (!scratches_[i].taken.exchange(true, std::memory_order_acquire)) return &scratches_[i];
    }
    round % 16 == 15 ? static_cast<void>(sched_yield()) : os::Pause();
  }
  return nullptr;
}

void Reporter::ReportFirst(const Finding& finding, Entry* entry, os::SymbolContext context) {
  Scratch* scratch = AcquireScratch();
  if (scratch == nullptr) {
    page_.CountLost(finding.severity);
    entry->stored.store(kUnstored, std::memory_order_release);
    Text<1000> line;
    line.Format("belay: %s: %s: %s\n", SeverityName(finding.severity), Kind(finding.id).id,
                finding.message.c_str());
    if (Prints(finding.severity)) WriteAll(config_.output, line.view());
    return;
  }
  ResolvedFinding& resolved = scratch->resolved;
  resolved.finding = &finding;
  bool suppressed = false;
  for (int i = 0; i <= finding.related_count; ++i) {
    Site site = i == 0 ? finding.where.site : finding.related[i - 1].site;
    resolved.symbols[i] =
        site.known() && !site.is_stack() ? config_.symbolize(site.value, context) : os::Symbol();
    suppressed = suppressed || suppressions_.Matches(finding.id, resolved.symbols[i]);
  }
  if (suppressed) {
    entry->stored.store(kUnstored, std::memory_order_release);
  } else {
    entry->stored.store(Store(resolved), std::memory_order_release);
    scratch->text.clear();
    FormatFinding(resolved, {.color = color_, .under_run = page_.from_run()}, &scratch->text);
    if (Prints(finding.severity)) WriteAll(config_.output, scratch->text.view());
    belay_on_finding(Kind(finding.id).id, scratch->text.c_str());
    if (finding.severity == Severity::kError) Stop(context);
  }
  scratch->taken.store(false, std::memory_order_release);
}

// Stored before it is printed: a reader of the terminal may kill the program at once.
uint32_t Reporter::Store(const ResolvedFinding& resolved) {
  RunPage::Reservation reservation = page_.Reserve(resolved.finding->severity, kJsonCapacity);
  if (reservation.data == nullptr) return kUnstored;
  BufferSink sink(reservation.data, reservation.capacity);
  size_t count_at = PutFindingJson(resolved, &sink);
  if (sink.overflowed()) return kUnstored;
  page_.Publish(reservation, sink.size(), count_at);
  return reservation.index;
}

void Reporter::Stop(os::SymbolContext context) {
  switch (config_.on_finding) {
    case OnFinding::kContinue:
      return;
    case OnFinding::kTrap:
      raise(SIGTRAP);
      return;
    case OnFinding::kAbort:
      if (context == os::SymbolContext::kNormal) WriteReports(std::nullopt);
      abort();
  }
}

bool Reporter::WriteReports(std::optional<int> exit_status) {
  if (page_.from_run()) return true;
  bool ok = true;
  for (const std::string& file : config_.report_files) {
    std::string error = WriteReport(file, page_, {.command = config_.command, .exit_status = exit_status});
    if (error.empty()) continue;
    ok = false;
    WriteAll(config_.output, "belay: error: " + error + "\n");
  }
  return ok;
}

}  // namespace belay::check
