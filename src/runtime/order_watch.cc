#include "runtime/order_watch.h"

#include <algorithm>
#include <cinttypes>

#include "memory/device_memory.h"
#include "memory/host_memory.h"
#include "runtime/host_watch.h"
#include "runtime/leaks.h"
#include "runtime/runtime.h"

namespace belay::runtime {
namespace {
using check::Finding;
using check::FindingId;
using check::OrderAccess;
using check::OrderActor;
using check::OrderBox;
using Verdict = check::OrderChecker::Verdict;

// "task 4 of stream 3", or "the call".
template <size_t N>
void PutActor(Text<N>& text, const OrderActor& actor) {
  if (actor.stream == nullptr) {
    text.Format("%s", actor.api);
  } else {
    text.Format("%s (task %" PRIu32 " of stream %" PRId32 ")", actor.api, actor.task, actor.stream_id);
  }
}

template <size_t N>
void PutBox(Text<N>& text, const OrderBox& box, uint64_t from) {
  if (box.rows == 1) {
    text.Format("bytes %" PRIu64 " to %" PRIu64, box.begin - from, box.end() - 1 - from);
  } else {
    text.Format("%" PRIu64 " rows of %" PRIu64 " bytes from byte %" PRIu64 " on, %" PRIu64 " bytes apart",
                box.rows, box.width, box.begin - from, box.pitch);
  }
}

check::Place PlaceOf(const OrderActor& actor, const char* role) {
  return {role, actor.api, actor.thread, actor.device, actor.stream_id, actor.site};
}
}  // namespace

bool WantsOrder(const check::Reporter& reporter) {
  return reporter.Wants(FindingId::kMissingOrder) || reporter.Wants(FindingId::kImplicitOrder) ||
         reporter.Wants(FindingId::kUninitializedRead);
}

OrderWatch::OrderWatch(Runtime& runtime)
    : runtime_(runtime),
      checker_([this](const Verdict& verdict) { Say(verdict); },
               [this](const engine::Submission& task) {
                 if (HostWatch* watch = runtime_.host_watch()) watch->LookedAt(task);
               },
               [this](int32_t logical) { return logical < 0 ? -1 : runtime_.UserId(logical); }) {}

// The log has a line for it, because no call shows when that was.
void OrderWatch::Function(bool starts, const engine::Stream& stream, const engine::Op& op) {
  const uint64_t sequence = stream.SequenceOf(op);
  const uint64_t event = starts ? checker_.Started(stream, sequence) : checker_.Returned(stream, sequence);
  if (runtime_.log() == nullptr) return;
  Text<256> line;
  line.Format("{\"function\":\"%s\",\"api\":\"%s\",\"device\":%d,\"stream\":%" PRId32 ",\"task\":%" PRIu32
              ",\"order\":%" PRIu64 "}\n",
              starts ? "starts" : "returned", op.api, runtime_.UserId(stream.device), stream.id, op.task,
              event);
  runtime_.log()->Append(line.view());
}

void OrderWatch::SayUnwritten(const Verdict& verdict) {
  const OrderActor& actor = verdict.second.actor;
  Finding finding(verdict.id);
  finding.where = PlaceOf(actor, "call");
  const Moment allocated = AllocatedAt(*verdict.block);
  finding.AddRelated({"allocated", allocated.api, allocated.thread, runtime_.UserId(verdict.memory->device()),
                      -1, allocated.site});
  PutActor(finding.message, actor);
  finding.message.Append(" reads ");
  PutBox(finding.message, verdict.second.box, 0);
  finding.message.Format(" of a block of %" PRIu64 " bytes on device %d; nothing wrote %" PRIu64
                         " of them, the first one is byte %" PRIu64,
                         verdict.block->size, runtime_.UserId(verdict.memory->device()), verdict.unwritten,
                         verdict.first_unwritten);
  finding.rule.Append("Device memory is not initialised when it is allocated (SPEC 30 §2.1)");
  finding.fix.Append("write the bytes first, by a copy or aclrtMemset, or read fewer");
  runtime_.reporter().Report(finding);
}

void OrderWatch::Say(const Verdict& verdict) {
  if (!runtime_.reporter().Wants(verdict.id)) return;
  if (verdict.id == FindingId::kUninitializedRead) return SayUnwritten(verdict);
  const OrderActor &first = verdict.first.actor, &second = verdict.second.actor;
  if (runtime_.log() != nullptr) {
    Text<512> line;
    line.Format("{\"finding\":\"%s\",\"thread\":%" PRIu32 ",\"ns\":%" PRIu64, check::Kind(verdict.id).id,
                second.thread, trace::ApiLog::Now());
    for (auto [name, actor] : {std::pair("first", &first), {"second", &second}}) {
      line.Format(",\"%s\":{\"stream\":%" PRId32 ",\"task\":%" PRIu32 ",\"api\":\"%s\"}", name,
                  actor->stream_id, actor->task, actor->api);
    }
    line.Format(",\"order\":%" PRIu64 "}\n", verdict.event);
    runtime_.log()->Append(line.view());
  }
  const bool missing = verdict.id == FindingId::kMissingOrder;
  Finding finding(verdict.id);
  finding.where = PlaceOf(second, "call");
  finding.AddRelated(PlaceOf(first, "first access"));
  uint64_t from = 0;  // the number of a block's first byte
  if (verdict.memory == nullptr) {
    from = verdict.block != nullptr ? runtime_.memory().host().Address(*verdict.block)
                                    : std::min(verdict.first.box.begin, verdict.second.box.begin);
  }
  PutActor(finding.message, second);
  finding.message.Append(verdict.second.write ? " writes " : " reads ");
  PutBox(finding.message, verdict.second.box, from);
  if (verdict.memory != nullptr) {
    finding.message.Format(" of a block of %" PRIu64 " bytes on device %d", verdict.block->size,
                           runtime_.UserId(verdict.memory->device()));
  } else if (verdict.block != nullptr) {
    finding.message.Format(" of a pinned block of %" PRIu64 " bytes", verdict.block->size);
  } else {
    finding.message.Format(" of host memory at 0x%" PRIx64, from);
  }
  finding.message.Append("; ");
  PutActor(finding.message, first);
  finding.message.Append(verdict.first.write ? " writes " : " reads ");
  PutBox(finding.message, verdict.first.box, from);
  if (missing) {
    finding.message.Append("; nothing orders the two");
    finding.rule.Append(
        "Two streams, or a stream and the host, have no order but the one that is asked for (SPEC 20 §1)");
    if (second.stream != nullptr && first.stream != nullptr) {
      finding.fix.Format("record an event on stream %" PRId32 " after %s, and let stream %" PRId32
                         " wait for it before %s",
                         first.stream_id, first.api, second.stream_id, second.api);
    } else if (first.stream != nullptr) {
      finding.fix.Format("synchronise stream %" PRId32 " before %s", first.stream_id, second.api);
    } else {
      finding.fix.Format("call %s after stream %" PRId32 " was synchronised", first.api, second.stream_id);
    }
  } else {
    finding.message.Append("; they are in order only because a call with pageable memory waits for its copy");
    finding.rule.Append("An asynchronous call does not promise to wait (SPEC 20 §1.2 N3, 31 §0.3)");
    finding.fix.Format("synchronise stream %" PRId32 " before %s", first.stream_id, second.api);
  }
  runtime_.reporter().Report(finding);
}

}  // namespace belay::runtime
