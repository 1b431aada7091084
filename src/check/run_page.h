// The run page: one mapped block in which the processes of a run leave their counters and findings.
//
// `belay run` makes it as a memfd and names it in BELAY_RUN; a library without that maps an anonymous one.
//
//   Header | ThreadCounters[4096] | FindingSlot[8192] | heap of JSON objects ...
//
// Guarantees: written with atomics only, so what was appended is readable also when the writer is killed at
// any
//   instruction; appending allocates nothing and takes no lock, so it works in a signal handler.
// Threading: everything may be called from any thread of any process of the run.
// Cost: counting is a load and a store to a line that no other thread writes; untouched parts take no memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "check/finding_id.h"

namespace belay::check {

// What one thread did. Slots are handed on from thread to thread and never cleared: the sum is what counts.
class alignas(64) ThreadCounters {
 public:
  void AddCall() { Add(calls_, 1); }
  void AddCopy(uint64_t bytes) { Add(copies_, 1), Add(bytes_, bytes); }
  // An asynchronous host copy that `guard` would have watched; the last line of `belay run` hints at them.
  void AddUnguardedCopy() { Add(unguarded_copies_, 1); }

  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  uint64_t copies() const { return copies_.load(std::memory_order_relaxed); }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  uint64_t unguarded_copies() const { return unguarded_copies_.load(std::memory_order_relaxed); }

 private:
  friend class RunPage;
  using Counter = std::atomic<uint64_t>;

  void Add(Counter& counter, uint64_t amount) {
    if (shared_) {
      counter.fetch_add(amount, std::memory_order_relaxed);
    } else {
      counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
  }

  Counter calls_;
  Counter copies_;
  Counter bytes_;
  Counter unguarded_copies_;
  std::atomic<uint64_t> owner_;  // process id and thread id; 0 = free
  uint32_t shared_;              // only slot 0, for threads that found no free slot
};
static_assert(sizeof(ThreadCounters) == 64);

struct RunTotals {
  uint64_t calls = 0;
  uint64_t copies = 0;
  uint64_t bytes = 0;
  uint64_t unguarded_copies = 0;
};

class RunPage {
 public:
  static constexpr uint32_t kVersion = 2;
  static constexpr uint32_t kThreads = 4096;
  static constexpr uint32_t kFindings = 8192;
  static constexpr size_t kBytes = size_t{64} << 20;
  static constexpr int kDevices = 1024;
  static constexpr uint32_t kNoFinding = ~uint32_t{0};

  // For `belay run`: a memfd, open in this process as fd().
  static tl::expected<RunPage, std::string> Create();

  // For the library: joins the page at `path` (the value of BELAY_RUN), or maps an anonymous one when `path`
  // is null or names no page of this version. Fails only when nothing can be mapped.
  static tl::expected<RunPage, std::string> Open(const char* path);

  RunPage(RunPage&& other) noexcept;
  RunPage(const RunPage&) = delete;
  RunPage& operator=(const RunPage&) = delete;
  ~RunPage();

  // True when `belay run` reads this page and writes the reports.
  bool from_run() const { return from_run_; }
  int fd() const { return fd_; }

  // For the library's constructor: tells the page at `path` that a process loaded the library, even if it
  // never calls it. Does nothing when `path` is null or names no page.
  static void NoteLoaded(const char* path);
  uint32_t loaded() const;

  // Processes that used the library.
  void AddProcess();
  uint32_t processes() const;

  // Never null. A forked child must take a slot of its own: it inherits the parent's pointer.
  ThreadCounters* AcquireSlot();
  void ReleaseSlot(ThreadCounters* slot);
  RunTotals totals() const;

  void MarkDeviceOpened(int device);
  bool device_opened(int device) const;
  int devices_opened() const;

  // The first caller's values stay.
  void SetProfile(std::string_view product, std::string_view cann, uint32_t devices);
  bool has_profile() const;
  // Empty, or 0, until somebody set it.
  std::string_view product() const;
  std::string_view cann() const;
  uint32_t devices() const;

  // Appends one finding in three steps: reserve, write into the heap, publish. `count_at` is where in the
  // object the member "count" belongs: it changes later, so it stands in the slot.
  struct Reservation {
    char* data = nullptr;  // null: the page is full; the finding is still counted
    size_t capacity = 0;
    uint32_t index = kNoFinding;
    uint64_t offset = 0;
  };
  Reservation Reserve(Severity severity, size_t capacity);
  void Publish(const Reservation& reservation, size_t length, size_t count_at);
  void CountRepeats(uint32_t index, uint64_t repeats);
  // Counts a finding that is not stored.
  void CountLost(Severity severity);

  // Distinct findings.
  uint64_t count(Severity severity) const;
  // Findings that found no room.
  uint64_t lost() const;

  struct StoredFinding {
    std::string_view head;  // the object up to the member "count"
    std::string_view tail;  // the rest
    uint64_t count = 0;
    Severity severity = Severity::kNote;
  };
  uint32_t finding_slots() const;
  // False when the writer died before it published this slot.
  bool ReadFinding(uint32_t index, StoredFinding* out) const;

 private:
  struct Header;
  struct FindingSlot;

  RunPage(Header* header, int fd, bool from_run);
  void Format();
  // The first `bytes` of the page at `path`; null when there is none.
  static Header* MapExisting(const char* path, size_t bytes);

  Header* header_ = nullptr;
  ThreadCounters* threads_ = nullptr;
  FindingSlot* slots_ = nullptr;
  int fd_ = -1;
  bool from_run_ = false;
};

}  // namespace belay::check
