#include "runtime/stall_watch.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "os/futex.h"
#include "os/thread.h"
#include "runtime/runtime.h"

namespace belay::runtime {
namespace {
using check::FindingId;
using engine::Engine;
using By = engine::Engine::Blockage::By;

constexpr int64_t kFirstLookNs = 100'000'000;
constexpr int kLongestChain = 8;

bool Starts(const char* text, std::string_view with) {
  return text != nullptr && std::string_view(text).starts_with(with);
}

const char* WhatIsAwaited(const engine::Op& op) {
  switch (op.kind) {
    case engine::OpKind::kAwait:
      if (Starts(op.api, "aclrtStreamWaitEvent")) return "a flag event that is not set";
      return Starts(op.api, "aclrtCntNotify") ? "a count notify without the value that it needs"
                                              : "a notify that is not set";
    case engine::OpKind::kValueWait:
      return "a value that device memory does not hold";
    case engine::OpKind::kCallback:
      return "a callback that did not return";
    case engine::OpKind::kHostFunc:
      return "a host function that did not return";
    default:
      return "an event that is not recorded";
  }
}

int64_t TimeoutOf(const engine::Op& op) {
  if (op.kind == engine::OpKind::kWait) return op.wait.timeout_ns;
  return op.kind == engine::OpKind::kAwait ? op.await.timeout_ns : 0;
}
}  // namespace

int64_t StallWatch::Waiting(engine::Stream& stream, uint64_t sequence, int64_t slept_ns) {
  if (!runtime_.reporter().Wants(FindingId::kNeverFires)) return os::kForever;
  int64_t next_look = std::min(kFirstLookNs, std::max<int64_t>(stall_after_ns_, 1'000'000));
  if (slept_ns < next_look) return next_look - slept_ns;
  Verdict verdict = Judge(stream);
  bool late = slept_ns >= stall_after_ns_;
  if (verdict.stalled && (verdict.certain || late)) {
    {
      MutexLock lock(mutex_);
      if (!said_.emplace(&stream, sequence).second) return os::kForever;
    }
    bool error = verdict.certain || verdict.cycle;
    verdict.finding.severity = error ? check::Severity::kError : check::Severity::kWarning;
    runtime_.reporter().Report(verdict.finding);
    return os::kForever;
  }
  return late ? kFirstLookNs * 10 : std::min(kFirstLookNs, stall_after_ns_ - slept_ns);
}

// Whether every thread of the program waits inside the API: then nobody is left to submit what is missing.
bool StallWatch::NobodyElse() {
  int threads = os::ProgramThreads();
  return threads > 0 && static_cast<uint32_t>(threads) <= runtime_.engine().sleeping_hosts() &&
         !runtime_.engine().LookAround(nullptr).running;
}

check::Place StallWatch::PlaceOf(const char* role, const engine::Op& op, const engine::Stream& stream) const {
  return {role, op.api, op.thread, runtime_.UserId(stream.device), stream.id, op.site};
}

StallWatch::Verdict StallWatch::Judge(engine::Stream& stream) {
  Verdict verdict;
  check::Finding& finding = verdict.finding;
  const ThreadState& thread = CurrentThread();
  finding.where = {"call",    thread.waiting.api, thread.id, runtime_.UserId(stream.device),
                   stream.id, thread.waiting.site};
  finding.message.Format("the call waits for stream %d", stream.id);
  finding.rule.Append("A wait ends only when a task or call that satisfies it runs (SPEC 20 §1.4)");

  bool gone = false, user_code = false;
  const char* fix = "submit what ends the wait before you wait for it";
  std::vector<engine::Stream*> chain;
  for (engine::Stream* at = &stream; at != nullptr;) {
    if (chain.size() == kLongestChain) break;
    if (std::find(chain.begin(), chain.end(), at) != chain.end()) {
      finding.message.Append(": a cycle");
      fix = "break the cycle: submit one of the records ahead of the wait in its stream";
      verdict.cycle = true;
      break;
    }
    chain.push_back(at);
    Engine::Blockage blockage = runtime_.engine().WhyBlocked(*at);
    if (blockage.by == By::kNothing || blockage.by == By::kRunning) return verdict;
    if (TimeoutOf(blockage.op) != 0) return verdict;  // it ends by itself
    finding.AddRelated(PlaceOf(blockage.by == By::kHeld ? "held task" : "waiting task", blockage.op, *at));
    engine::Stream* next = nullptr;
    switch (blockage.by) {
      case By::kHeld:
        finding.message.Append(", which is held");
        fix = "call belay_release_stream";
        break;
      case By::kRecord:
        gone = blockage.record_dropped;
        if (gone) {
          finding.message.Append(", whose next task waits for an event record that an abort dropped");
          fix = "abort or destroy the streams that wait for an aborted stream's events as well";
        } else {
          finding.message.Format(", whose next task waits for an event of stream %d", blockage.recorder->id);
          next = blockage.recorder;
        }
        break;
      case By::kSignal: {
        finding.message.Format(", whose next task waits for %s", WhatIsAwaited(blockage.op));
        if (blockage.orphan) finding.message.Append(" and was destroyed");
        fix = blockage.orphan ? "destroy it after the streams that wait for it are done"
                              : "submit the record that sets it, to a stream that does not wait itself";
        Engine::Activity activity = runtime_.engine().LookAround(blockage.signal);
        next = activity.changer;
        if (next != nullptr) {
          finding.message.Format("; the task that sets it is queued in stream %d", next->id);
          finding.AddRelated(PlaceOf("queued record", activity.change, *next));
        } else {
          gone = blockage.orphan;
          if (blockage.last_api != nullptr) {
            finding.AddRelated(
                {"last change", blockage.last_api, blockage.last_thread, -1, -1, blockage.last_site});
          }
        }
        break;
      }
      default:
        finding.message.Format(", whose next task waits for %s", WhatIsAwaited(blockage.op));
        user_code = blockage.by == By::kUserCode;
        fix = user_code ? "let the function return: what it waits for may need this stream"
                        : "write the value from a stream that does not wait itself";
        break;
    }
    at = next;
  }
  verdict.stalled = true;
  verdict.certain = gone || (!user_code && NobodyElse());
  if (verdict.certain && !gone) {
    finding.message.Append("; every thread of the program waits inside the API");
  }
  finding.fix.Append(fix);
  return verdict;
}

}  // namespace belay::runtime
