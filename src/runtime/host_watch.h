// Watches what the program does with host memory that its asynchronous copies use: the findings
// host-source-changed, host-target-early and host-buffer-gone (docs/design/guard.md).
//
// It tells the guard what to close and when the host knows that it may open, and judges what the guard
// caught. Threading: everything may be called from any thread; OnFault runs in signal context.
#pragma once

#include <atomic>
#include <cstdint>

#include "check/host_knowledge.h"
#include "check/reporter.h"
#include "engine/observer.h"
#include "memory/host_guard.h"
#include "os/fault.h"
#include "runtime/objects.h"

namespace belay::runtime {

class Runtime;

class HostWatch {
 public:
  explicit HostWatch(Runtime& runtime);
  HostWatch(const HostWatch&) = delete;
  HostWatch& operator=(const HostWatch&) = delete;

  static bool Wanted(const check::Reporter& reporter);
  memory::HostGuard& guard() { return guard_; }

  // A task is taken over; and: all that is ordered before it has happened, so it may run from now on.
  void Submitted(const engine::Submission& submission);
  void LookedAt(const engine::Submission& submission);

  // --- As engine::Observer
  void Learned(const engine::Stream& stream, uint64_t sequence);
  void LearnedRecord(const engine::EventRecord& record);
  void Dropped(const engine::Stream& stream, uint64_t sequence);

  // Whether the pages of a range that is being registered can be closed and opened again.
  bool CanGuard(uintptr_t begin, uint64_t bytes) const;

  // A call that touches memory of the host at once.
  struct Access {
    uintptr_t begin;
    uint64_t width, pitch, rows;
    bool is_write;
  };
  void Touched(const Moment& by, const Access& access);
  // A call that takes memory of the host away.
  void Gone(const Moment& by, uintptr_t begin, uint64_t bytes);

  // Everything opens, and nothing is guarded any more: the process ends.
  void End();

  os::FaultVerdict OnFault(const os::Fault& fault);

 private:
  using Range = memory::HostGuard::Range;
  using Use = memory::HostGuard::Use;

  void Guard(const engine::Submission& submission, Use use, const uint8_t* begin, uint64_t width,
             uint64_t pitch, uint64_t rows, bool pinned);
  bool HandlerIsOurs();
  // True: a function of the program that comes before the task does it, as it may.
  bool Borrows(const Range& range) const;
  check::Place SubmittedAt(const Range& range) const;
  // Makes a finding of each closed range that the access harms, once; how many there were.
  template <class Report>
  size_t Judge(const Range& access, bool is_write, Report&& report);
  void Describe(const Range& range, const char* who, const Range& access, bool is_write,
                check::Finding& finding) const;

  Runtime& runtime_;
  mutable check::HostKnowledge knowledge_;  // before the guard in the order of locks
  memory::HostGuard guard_;
  std::atomic<bool> ended_{false};
  std::atomic<bool> replaced_said_{false};
  std::atomic<bool> unguarded_said_{false};
};

}  // namespace belay::runtime
