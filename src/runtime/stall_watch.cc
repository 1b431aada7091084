#include "runtime/stall_watch.h"

#include <algorithm>
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

const char* WhatIsAwaited(const engine::Op& op) {
  switch (op.kind) {
    case engine::OpKind::kAwait:
      return op.await.clear ? "a notify that is not set" : "an event or counter that is not set";
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
    verdict.finding.severity = verdict.certain ? check::Severity::kError : check::Severity::kWarning;
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

StallWatch::Verdict StallWatch::Judge(engine::Stream& stream) {
  Verdict verdict;
  check::Finding finding(FindingId::kNeverFires);
  const ThreadState& thread = CurrentThread();
  int device = runtime_.UserId(stream.device);
  finding.where.role = "call";
  finding.where.api = thread.waiting.api;
  finding.where.thread = thread.id;
  finding.where.device = device;
  finding.where.stream = stream.id;
  finding.where.site = thread.waiting.site;
  finding.message.Format("the call waits for stream %d", stream.id);

  bool gone = false, cycle = false;
  const char* fix = "submit what ends the wait before you wait for it";
  std::vector<engine::Stream*> chain;
  engine::Stream* at = &stream;
  for (int hop = 0; hop < kLongestChain && at != nullptr; ++hop) {
    chain.push_back(at);
    Engine::Blockage blockage = runtime_.engine().WhyBlocked(*at);
    if (blockage.by == By::kNothing || blockage.by == By::kRunning) return verdict;
    if (TimeoutOf(blockage.op) != 0) return verdict;  // it ends by itself
    verdict.stalled = true;
    check::Place waits;
    waits.role = blockage.by == By::kHeld ? "held task" : "waiting task";
    waits.api = blockage.op.api;
    waits.thread = blockage.op.thread;
    waits.device = runtime_.UserId(at->device);
    waits.stream = at->id;
    waits.site = blockage.op.site;
    finding.AddRelated(waits);
    engine::Stream* next = nullptr;
    switch (blockage.by) {
      case By::kHeld:
        finding.message.Append(", which is held");
        fix = "call belay_release_stream";
        break;
      case By::kRecord:
        if (blockage.record_dropped) {
          finding.message.Append(", whose next task waits for an event record that an abort dropped");
          gone = true;
          fix = "abort or destroy the streams that wait for an aborted stream's events as well";
        } else {
          finding.message.Format(", whose next task waits for an event of stream %d", blockage.recorder->id);
          next = blockage.recorder;
        }
        break;
      case By::kSignal: {
        bool changes = runtime_.engine().LookAround(blockage.signal).changes;
        finding.message.Format(", whose next task waits for %s", WhatIsAwaited(blockage.op));
        if (blockage.orphan) finding.message.Append(" and was destroyed");
        gone = blockage.orphan && !changes;
        cycle = changes;  // the task that would set it is queued, and nothing queued can run
        if (changes) finding.message.Append("; the task that sets it is queued behind waits");
        if (blockage.last_api != nullptr) {
          check::Place last;
          last.role = "last change";
          last.api = blockage.last_api;
          last.thread = blockage.last_thread;
          last.site = blockage.last_site;
          finding.AddRelated(last);
        }
        fix = cycle ? "break the cycle: record first in one of the streams"
                    : "submit the record that sets it, to a stream that does not wait itself";
        break;
      }
      default:
        finding.message.Format(", whose next task waits for %s", WhatIsAwaited(blockage.op));
        break;
    }
    bool user_code = blockage.by == By::kUserCode;
    if (user_code) fix = "let the function return: what it waits for may need this stream";
    at = next;
    if (at == nullptr) {
      verdict.certain = gone || (!user_code && NobodyElse());
    }
  }
  if (verdict.certain && !gone) {
    finding.message.Append("; every thread of the program waits inside the API");
  }
  finding.rule.Append("A wait ends only when a task or call that satisfies it runs (SPEC 20 §1.4)");
  finding.fix.Format("%s", fix);
  verdict.finding = finding;
  return verdict;
}

}  // namespace belay::runtime
