// Events seen from the host: state, waiting, time and ids. SPEC 20 §4.3.
#include "abi/call.h"
#include "abi/event_use.h"
#include "abi/resolve.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"
#include "os/ticks.h"

namespace belay::abi::body {
using check::FindingId;
using engine::Event;
using engine::EventRecord;
using runtime::Context;
using runtime::EventObject;

namespace {

// Whether the tasks that the record covers ended well, or its failure. `tells`: the program sees the answer.
Status Look(Call& call, EventRecord& record, bool tells, bool* complete) {
  *complete = tells ? call.engine().QueryRecord(record) : call.engine().QueryRecordUnseen(record);
  if (*complete || record.dropped() ||
      (record.stream()->domain != nullptr && record.stream()->domain->stopped())) {
    BELAY_TRY(ReportRecord(call, record));
  }
  // SPEC 20 §3.3: a record that an abort dropped leaves what was there before. §4.3: failed is not ready.
  if (record.dropped()) *complete = record.follows_complete();
  if (record.failed()) *complete = false;
  return Status();
}

Status Synchronize(Call& call, aclrtEvent event, int32_t timeout_ms) {
  EventObject* found = nullptr;
  BELAY_TRY(NeedEvent(call, event, &found));
  LatestRecord latest(*found);
  if (!latest) {
    NoteUnrecorded(call, *found);
    return Status();
  }
  bool waits = latest->pending();
  if (waits) {
    BELAY_TRY(NeedOtherStream(call, latest->stream(), nullptr));
    call.thread().waiting = call.now();
    bool done = timeout_ms == 0 ? call.engine().QueryRecord(*latest.get()) || latest->dropped()
                                : call.engine().WaitRecord(*latest.get(), DeadlineOf(timeout_ms));
    if (!done) {
      Refusal refusal = call.Refuse(code::kEventTimeout, FindingId::kNeverFires);
      refusal.Say("the event was not complete within %d ms", timeout_ms)
          .Rule("An expired wait changes nothing (SPEC 20 §4.3)")
          .Plain();
      if (timeout_ms == 0) refusal.Benign();  // SPEC 11 §2
      return refusal.End();
    }
  } else {
    call.engine().HostKnows(*latest.get());
  }
  BELAY_TRY(ReportRecord(call, *latest.get()));
  if (!latest->dropped()) return Status();
  // SPEC 20 §3.3: who waited when the abort came returns its code, who comes later that of a dropped record.
  return RefuseAborted(call, *latest->stream(), waits ? latest->stream()->abort_code() : code::kStreamAbort);
}

// --- Time

Status RefuseTime(const Call& call, const EventObject& event, const char* why) {
  return call.Refuse(code::kTimestampInvalid, FindingId::kEventMisuse)
      .As(check::Severity::kError)
      .Say("event %p %s", event.handle, why)
      .Rule(
          "Time is taken of recorded events of one device that aclrtCreateEvent or ACL_EVENT_TIME_LINE made "
          "(SPEC 20 §4.3)")
      .Fix("create the event with aclrtCreateEvent or ACL_EVENT_TIME_LINE, and record it")
      .With("event created", event.created, event.device->user)
      .End();
}

Status NeedTimed(const Call& call, const EventObject& event, const LatestRecord& latest) {
  if (!event.event->timed()) return RefuseTime(call, event, "was created without ACL_EVENT_TIME_LINE");
  return latest ? Status() : RefuseTime(call, event, "was never recorded");
}

Status NeedComplete(const Call& call, const EventObject& event, const LatestRecord& latest) {
  if (latest->complete()) {
    call.engine().HostKnows(*latest.get());
    return Status();
  }
  // What it captured has ended, and somebody is at the record itself.
  if (call.engine().QueryRecord(*latest.get()) && call.engine().WaitRecord(*latest.get())) return Status();
  return call.Refuse(code::kEventNotComplete, FindingId::kEventMisuse)
      .As(check::Severity::kError)
      .Say("the record of event %p is not complete", event.handle)
      .Rule("Time is asked of an event after its stream was synchronised (SPEC 20 §4.3)")
      .Fix("call aclrtSynchronizeEvent or aclrtSynchronizeStream before %s", call.name())
      .With("recorded", event.last_record.Get(), event.device->user, latest->stream()->id)
      .With("event created", event.created, event.device->user)
      .End();
}
}  // namespace

Status aclrtQueryEvent(Call& call, aclrtEvent event, aclrtEventStatus* status) {
  EventObject* found = nullptr;
  BELAY_TRY(NeedEvent(call, event, &found));
  if (found->event->family() == Event::Family::kEx) {
    return RefuseEventKind(call, *found, "is an Ex event, which aclrtQueryEvent does not take");
  }
  call.Note(FindingId::kVersionDependent)
      .Say("aclrtQueryEvent is deprecated, and on a card it sees only records of its own thread")
      .Rule("aclrtQueryEventStatus replaces it (SPEC 20 §4.3)")
      .Fix("call aclrtQueryEventStatus; its 0 means not ready and its 1 means complete")
      .Send();
  LatestRecord latest(*found);
  bool complete = false;
  if (latest) BELAY_TRY(Look(call, *latest.get(), true, &complete));
  *status = complete ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  return Status();
}

Status aclrtQueryEventStatus(Call& call, aclrtEvent event, aclrtEventRecordedStatus* status) {
  EventObject* found = nullptr;
  BELAY_TRY(NeedEvent(call, event, &found));
  LatestRecord latest(*found);
  bool complete = found->event->family() == Event::Family::kEx;  // never recorded: nothing is missing
  if (latest) BELAY_TRY(Look(call, *latest.get(), true, &complete));
  *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return Status();
}

Status aclrtQueryEventWaitStatus(Call& call, aclrtEvent event, aclrtEventWaitStatus* status) {
  EventObject* found = nullptr;
  BELAY_TRY(NeedEvent(call, event, &found));
  const Event& inner = *found->event;
  if (inner.family() == Event::Family::kEx) {
    return RefuseEventKind(call, *found, "is an Ex event, which aclrtQueryEventWaitStatus does not take");
  }
  if (inner.family() == Event::Family::kFlag && inner.bit() == nullptr) {
    return RefuseEventKind(call, *found, "was created without ACL_EVENT_SYNC, so no stream waits for it");
  }
  LatestRecord latest(*found);
  bool complete = true;
  if (latest) BELAY_TRY(Look(call, *latest.get(), false, &complete));
  complete = call.engine().QueryWaits(*found->event) && complete;
  if (complete && latest) call.engine().QueryRecord(*latest.get());  // not ready says nothing of the record
  *status = complete ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
  return Status();
}

Status aclrtSynchronizeEvent(Call& call, aclrtEvent event) {
  return Synchronize(call, event, -1);
}

Status aclrtSynchronizeEventWithTimeout(Call& call, aclrtEvent event, int32_t timeout) {
  if (event != nullptr) BELAY_TRY(NeedTimeout(call, timeout));
  return Synchronize(call, event, timeout);
}

Status aclrtEventElapsedTime(Call& call, float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  EventObject *start = nullptr, *end = nullptr;
  BELAY_TRY(NeedEvent(call, startEvent, &start));
  BELAY_TRY(NeedEvent(call, endEvent, &end));
  LatestRecord first(*start), last(*end);
  BELAY_TRY(NeedTimed(call, *start, first));
  BELAY_TRY(NeedTimed(call, *end, last));
  if (first->stream()->device != last->stream()->device) {
    return RefuseTime(call, *end, "was recorded on another device than the start event");
  }
  BELAY_TRY(NeedComplete(call, *start, first));
  BELAY_TRY(NeedComplete(call, *end, last));
  if (first->stream() != last->stream()) {
    call.Note(FindingId::kEventMisuse)
        .Say("the events were recorded on streams %d and %d", first->stream()->id, last->stream()->id)
        .Rule("Elapsed time is that between two records of one stream (SPEC 20 §4.3)")
        .Fix("record both events on one stream")
        .With("start recorded", start->last_record.Get(), start->device->user, first->stream()->id)
        .With("end recorded", end->last_record.Get(), end->device->user, last->stream()->id)
        .Send();
  }
  int64_t elapsed_ns = os::TickLengthNs(last->completed_ticks() - first->completed_ticks());
  if (elapsed_ns < 0) {
    return call.Refuse(code::kTimestampReversal, FindingId::kEventMisuse)
        .As(check::Severity::kError)
        .Say("the end event completed %.6f ms before the start event", static_cast<double>(-elapsed_ns) / 1e6)
        .Rule("The start event is recorded before the end event (SPEC 20 §4.3)")
        .Fix("pass the events in the order in which they were recorded")
        .With("start recorded", start->last_record.Get(), start->device->user, first->stream()->id)
        .With("end recorded", end->last_record.Get(), end->device->user, last->stream()->id)
        .End();
  }
  *ms = static_cast<float>(static_cast<double>(elapsed_ns) / 1e6);
  return Status();
}

Status aclrtEventGetTimestamp(Call& call, aclrtEvent event, uint64_t* timestamp) {
  EventObject* found = nullptr;
  BELAY_TRY(NeedEvent(call, event, &found));
  LatestRecord latest(*found);
  BELAY_TRY(NeedTimed(call, *found, latest));
  BELAY_TRY(NeedComplete(call, *found, latest));
  *timestamp =
      static_cast<uint64_t>(os::TicksToNs(latest->completed_ticks()) - found->device->opened_ns) / 1000;
  return Status();
}

Status aclrtGetEventId(Call& call, aclrtEvent event, uint32_t* eventId) {
  EventObject* found = nullptr;
  BELAY_TRY(NeedEvent(call, event, &found));
  *eventId = found->event->id.load(std::memory_order_relaxed);
  return Status();
}

Status aclrtGetEventAvailNum(Call& call, uint32_t* eventCount) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  const IdPool& ids = *context->device->event_ids;
  *eventCount = ids.limit() - ids.held();
  return Status();
}

}  // namespace belay::abi::body
