// What the runtime does when the engine tells it something: hands callbacks to their threads, tells of
// failures first, keeps them for the end, breaks devices, looks at long waits.
//
// Threading: called from any thread, outside all locks of the engine.
#pragma once

#include <vector>

#include "base/thread_annotations.h"
#include "engine/observer.h"
#include "runtime/exception_thread.h"
#include "runtime/report_board.h"
#include "runtime/stall_watch.h"

namespace belay::runtime {

class TaskObserver final : public engine::Observer {
 public:
  TaskObserver(Runtime& runtime, double stall_after_seconds);

  void Submitted(const engine::Submission& submission) override;
  void Learned(const engine::Stream& stream, uint64_t sequence, bool by_the_way) override;
  void LearnedRecord(const engine::EventRecord& record) override;
  void Started(const engine::Stream& stream, const engine::Op& op) override;
  void Returned(const engine::Stream& stream, const engine::Op& op) override;
  void Dropped(const engine::Stream& stream, uint64_t sequence) override;
  void SignalChanged(const engine::Signal& signal, engine::Signal::Change change, uint32_t value) override;

  bool TaskFailed(const engine::Failure& failure, void (*done)(void*), void* argument) override;
  bool HandOver(engine::Stream& stream, const engine::Op& op) override;
  void HostFunctionReturned() override;
  void HostFunctionThrew(const engine::Stream& stream, const engine::Op& op, const char* what) override;
  int64_t Waiting(engine::Stream& stream, uint64_t sequence, int64_t slept_ns) override {
    return stalls_.Waiting(stream, sequence, slept_ns);
  }

  ExceptionThread& exceptions() { return exceptions_; }
  ReportBoard& reports() { return reports_; }

  // A stream goes away with a failure that no call reported.
  void Unreported(const engine::Failure& failure) BELAY_EXCLUDES(ledger_lock_);
  // Says so at the end of the process (SPEC 21 §6.3).
  void ReportUnreported() BELAY_EXCLUDES(ledger_lock_);

  // A stream went away, and with it callbacks that were handed to its thread (W-CBLOST).
  void CallbacksLost(const engine::Stream& stream, const ReportBoard::Lost& lost, const Moment& by);
  // `what` may be null or empty (W-CBTHROW).
  void CallbackThrew(const engine::Stream& stream, const engine::Op& op, const char* what, const char* kind) {
    Threw(SubmittedAt(stream, op), what, kind);
  }

 private:
  void Threw(const check::Place& where, const char* what, const char* kind);
  check::Place SubmittedAt(const engine::Stream& stream, const engine::Op& op) const;

  Runtime& runtime_;
  ExceptionThread exceptions_;
  ReportBoard reports_;
  StallWatch stalls_;
  Mutex ledger_lock_;
  std::vector<engine::Failure> ledger_ BELAY_GUARDED_BY(ledger_lock_);
};

// Whether a failure with this code breaks its device (SPEC 21 §6.3).
bool BreaksDevice(int32_t code);

}  // namespace belay::runtime
