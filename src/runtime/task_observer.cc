#include "runtime/task_observer.h"

#include "runtime/runtime.h"

namespace belay::runtime {
using check::Finding;
using check::FindingId;

bool BreaksDevice(int32_t code) {
  return code == 507010 || (code >= 507053 && code <= 507057);
}

TaskObserver::TaskObserver(Runtime& runtime, double stall_after_seconds)
    : runtime_(runtime),
      exceptions_([this](const engine::Failure& failure, const char* what) {
        Threw({"failed task submitted", failure.api, failure.thread, runtime_.UserId(failure.device),
               failure.stream, failure.site},
              what, "exception callback");
      }),
      stalls_(runtime, stall_after_seconds) {}

// --- What the findings about order and about host memory follow

void TaskObserver::Submitted(const engine::Submission& submission) {
  if (HostWatch* watch = runtime_.host_watch()) watch->Submitted(submission);
  if (check::OrderChecker* order = runtime_.order()) order->Submitted(submission);  // calls LookedAt
}

void TaskObserver::Learned(const engine::Stream& stream, uint64_t sequence, bool by_the_way) {
  if (check::OrderChecker* order = runtime_.order()) order->Learned(stream, sequence, by_the_way);
  if (HostWatch* watch = runtime_.host_watch()) watch->Learned(stream, sequence);
}

void TaskObserver::LearnedRecord(const engine::EventRecord& record) {
  if (check::OrderChecker* order = runtime_.order()) order->LearnedRecord(record);
  if (HostWatch* watch = runtime_.host_watch()) watch->LearnedRecord(record);
}

void TaskObserver::Started(const engine::Stream& stream, const engine::Op& op) {
  const uint64_t before = stream.SequenceOf(op) - 1;
  if (OrderWatch* order = runtime_.order_watch()) order->Function(true, stream, op);
  if (HostWatch* watch = runtime_.host_watch()) watch->Learned(stream, before);
}

void TaskObserver::Returned(const engine::Stream& stream, const engine::Op& op) {
  if (OrderWatch* order = runtime_.order_watch()) order->Function(false, stream, op);
}

void TaskObserver::Dropped(const engine::Stream& stream, uint64_t sequence) {
  if (check::OrderChecker* order = runtime_.order()) order->Dropped(stream, sequence);
  if (HostWatch* watch = runtime_.host_watch()) watch->Dropped(stream, sequence);
}

void TaskObserver::SignalChanged(const engine::Signal& signal, engine::Signal::Change change,
                                 uint32_t value) {
  if (check::OrderChecker* order = runtime_.order()) order->SignalChanged(signal, change, value);
}

// --- Failures

bool TaskObserver::TaskFailed(const engine::Failure& failure, void (*done)(void*), void* argument) {
  if (BreaksDevice(failure.code)) runtime_.BreakDevice(failure);
  if (!exceptions_.wanted()) return false;
  exceptions_.Tell(failure, runtime_.UserId(failure.device), done, argument);
  return true;
}

check::Place TaskObserver::SubmittedAt(const engine::Stream& stream, const engine::Op& op) const {
  return {"submitted", op.api, op.thread, runtime_.UserId(stream.device), stream.id, op.site};
}

bool TaskObserver::HandOver(engine::Stream& stream, const engine::Op& op) {
  if (reports_.HandOver(stream, op)) return true;
  if (!runtime_.reporter().Wants(FindingId::kCallbackMisuse)) return false;
  Finding finding(FindingId::kCallbackMisuse);
  finding.where = SubmittedAt(stream, op);
  finding.message.Format("a callback of stream %d never runs: the stream was unsubscribed before its turn",
                         stream.id);
  finding.rule.Append("A callback runs in the thread that is subscribed when its turn comes (SPEC 21 §2)");
  finding.fix.Append("synchronise the stream before aclrtUnSubscribeReport");
  runtime_.reporter().Report(finding);
  return false;
}

// SPEC 21 §3: no context is bound when a host function starts; nor are the errors of earlier ones its own.
void TaskObserver::HostFunctionReturned() {
  if (t_state == nullptr) return;
  t_state->Bind(nullptr, {});
  t_state->last_error = 0;
  t_state->last_task = ~uint32_t{0};
  t_state->errors = ErrorLog();
}

void TaskObserver::Unreported(const engine::Failure& failure) {
  constexpr size_t kMost = 64;
  MutexLock lock(ledger_lock_);
  if (failure.code != 0 && ledger_.size() < kMost) ledger_.push_back(failure);
}

void TaskObserver::ReportUnreported() {
  for (const StreamObject* stream : runtime_.AllStreams()) {
    Unreported(runtime_.engine().TakeFailure(*stream->stream, ~uint64_t{0}));
  }
  std::vector<engine::Failure> failures;
  {
    MutexLock lock(ledger_lock_);
    failures.swap(ledger_);
  }
  if (!runtime_.reporter().Wants(FindingId::kDeviceFault)) return;
  for (const engine::Failure& failure : failures) {
    Finding finding(FindingId::kDeviceFault);
    finding.where = {"submitted",    failure.api, failure.thread, runtime_.UserId(failure.device),
                     failure.stream, failure.site};
    finding.message.Format("task %llu of stream %d failed with %d, and no call reported it",
                           static_cast<unsigned long long>(failure.sequence - 1), failure.stream,
                           failure.code);
    finding.rule.Append("A failed task is reported by the next call that waits for it (SPEC 21 §6.3)");
    finding.fix.Append("synchronise the stream and look at the code before the program ends");
    runtime_.reporter().Report(finding);
  }
}

void TaskObserver::HostFunctionThrew(const engine::Stream& stream, const engine::Op& op, const char* what) {
  CallbackThrew(stream, op, what, "host function");
}

void TaskObserver::Threw(const check::Place& where, const char* what, const char* kind) {
  if (!runtime_.reporter().Wants(FindingId::kCallbackMisuse)) return;
  Finding finding(FindingId::kCallbackMisuse);
  finding.where = where;
  finding.message.Format("the %s threw a C++ exception", kind);
  if (what != nullptr && *what != '\0') finding.message.Format(": %s", what);
  finding.rule.Append("A callback does not throw; Belay catches it and the task counts as done (SPEC 21 §2)");
  finding.fix.Append("catch exceptions inside the function and report them another way");
  runtime_.reporter().Report(finding);
}

void TaskObserver::CallbacksLost(const engine::Stream& stream, const ReportBoard::Lost& lost,
                                 const Moment& by) {
  if (lost.count == 0 || !runtime_.reporter().Wants(FindingId::kCallbackMisuse)) return;
  Finding finding(FindingId::kCallbackMisuse);
  finding.where = {"call", by.api, by.thread, runtime_.UserId(stream.device), stream.id, by.site};
  finding.message.Format(
      "%zu callback%s of stream %d never ran: the stream went away before its thread took %s", lost.count,
      lost.count == 1 ? "" : "s", stream.id, lost.count == 1 ? "it" : "them");
  finding.AddRelated(SubmittedAt(stream, lost.first));
  finding.rule.Append("A stream is unsubscribed before it is destroyed (SPEC 21 §2)");
  finding.fix.Append("call aclrtUnSubscribeReport first: it waits for the callbacks");
  runtime_.reporter().Report(finding);
}

}  // namespace belay::runtime
