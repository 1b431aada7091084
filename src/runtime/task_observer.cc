#include "runtime/task_observer.h"

#include "runtime/runtime.h"

namespace belay::runtime {
using check::Finding;
using check::FindingId;

bool BreaksDevice(int32_t code) {
  return code == 507010 || (code >= 507053 && code <= 507057);
}

bool TaskObserver::TaskFailed(const engine::Failure& failure, void (*done)(void*), void* argument) {
  if (BreaksDevice(failure.code)) runtime_.BreakDevice(failure);
  if (!exceptions_.wanted()) return false;
  exceptions_.Tell(failure, runtime_.UserId(failure.device), done, argument);
  return true;
}

bool TaskObserver::HandOver(engine::Stream& stream, const engine::Op& op) {
  if (reports_.HandOver(stream, op)) return true;
  CallbacksLost(stream, 1, &op);
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
    finding.where.role = "submitted";
    finding.where.api = failure.api;
    finding.where.thread = failure.thread;
    finding.where.device = runtime_.UserId(failure.device);
    finding.where.stream = failure.stream;
    finding.where.site = failure.site;
    finding.message.Format("task %llu of stream %d failed with %d, and no call reported it",
                           static_cast<unsigned long long>(failure.sequence - 1), failure.stream,
                           failure.code);
    finding.rule.Append("A failed task is reported by the next call that waits for it (SPEC 21 §6.3)");
    finding.fix.Append("synchronise the stream and look at the code before the program ends");
    runtime_.reporter().Report(finding);
  }
}

void TaskObserver::HostFunctionThrew(const engine::Stream&, const engine::Op& op, const char* what) {
  CallbackThrew(op, what, "host function");
}

void TaskObserver::CallbackThrew(const engine::Op& op, const char* what, const char* kind) {
  if (!runtime_.reporter().Wants(FindingId::kCallbackMisuse)) return;
  Finding finding(FindingId::kCallbackMisuse);
  finding.where.role = "submitted";
  finding.where.api = op.api;
  finding.where.thread = op.thread;
  finding.where.site = op.site;
  finding.message.Format("the %s threw a C++ exception", kind);
  if (what != nullptr) finding.message.Format(": %s", what);
  finding.rule.Append("A callback does not throw; Belay catches it and the task counts as done (SPEC 21 §2)");
  finding.fix.Append("catch exceptions inside the function and report them another way");
  runtime_.reporter().Report(finding);
}

void TaskObserver::CallbacksLost(const engine::Stream& stream, size_t count, const engine::Op* one) {
  if (count == 0 || !runtime_.reporter().Wants(FindingId::kCallbackMisuse)) return;
  Finding finding(FindingId::kCallbackMisuse);
  finding.where.role = "call";
  finding.where.device = runtime_.UserId(stream.device);
  finding.where.stream = stream.id;
  if (one != nullptr) {
    finding.where.role = "submitted";
    finding.where.api = one->api;
    finding.where.thread = one->thread;
    finding.where.site = one->site;
  }
  finding.message.Format("%zu callback%s of stream %d never run: no thread reports for the stream", count,
                         count == 1 ? "" : "s", stream.id);
  finding.rule.Append("A callback runs in the thread that is subscribed when its turn comes (SPEC 21 §2)");
  finding.fix.Append("synchronise the stream before aclrtUnSubscribeReport, and end the thread after it");
  runtime_.reporter().Report(finding);
}

}  // namespace belay::runtime
