// Plain and Ex events: SPEC 20 §4. Flag events, timing and IPC events are built later.
#include "abi/call.h"
#include "abi/resolve.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;
using engine::Event;
using engine::EventRecord;
using runtime::Context;
using runtime::EventObject;
using runtime::StreamObject;

namespace {
// A large client passes this for its default events; it may be waited for although SYNC is not in it. SPEC 20
// §4.1
constexpr uint32_t kClientDefault = 0x0E;

// Holds the latest record while a call looks at it.
class LatestRecord {
 public:
  explicit LatestRecord(EventObject& event) : record_(event.event->Latest()) {}
  ~LatestRecord() {
    if (record_ != nullptr) record_->Drop();
  }
  LatestRecord(const LatestRecord&) = delete;
  LatestRecord& operator=(const LatestRecord&) = delete;
  EventRecord* get() const { return record_; }

 private:
  EventRecord* record_;
};

Status Create(Call& call, aclrtEvent* event, Event::Family family, uint32_t flags) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  *event = call.runtime().CreateEvent(family, flags, *context->device, call.now())->handle;
  return Status();
}

Status RefuseKind(const Call& call, const EventObject& event, const char* why) {
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .As(check::Severity::kError)
      .Say("event %p %s", event.handle, why)
      .Rule("What an event may be used for follows from how it was created (SPEC 20 §4.1, §4.3)")
      .Fix("create the event with aclrtCreateEvent, or with ACL_EVENT_SYNC if a stream waits for it")
      .With("event created", event.created, event.device->user)
      .End();
}

// SPEC 20 §4.3, 32 §4: an ordinary event belongs to the device that was current when it was created.
Status NeedSameDevice(const Call& call, const EventObject& event, const StreamObject& stream) {
  if (event.device == stream.device || call.machine().quirks().event_cross_device) [[likely]]
    return Status();
  return call.Refuse(code::kStreamContext, FindingId::kWrongContext)
      .On(stream.device->user, stream.id)
      .Say("event %p belongs to device %d, but the stream belongs to device %d", event.handle,
           event.device->user, stream.device->user)
      .Rule("An ordinary event and the stream that records or awaits it belong to one device (SPEC 32 §4)")
      .Fix(
          "synchronise on the host between the devices: aclrtSynchronizeEvent, then submit to the other "
          "stream")
      .With("event created", event.created, event.device->user)
      .With("stream created", stream.created, stream.device->user, stream.id)
      .End();
}

// An event and the stream that records or awaits it, in the documented order of tests.
Status NeedEventAndStream(const Call& call, const void* event, const void* stream, EventObject** found,
                          StreamObject** on) {
  Context* context = nullptr;
  if (event == nullptr) return NeedEvent(call, event, found);
  BELAY_TRY(NeedContext(call, &context));
  BELAY_TRY(NeedEvent(call, event, found));
  BELAY_TRY(NeedStream(call, *context, stream, on));
  return NeedSameDevice(call, **found, **on);
}

void NoteUnrecorded(const Call& call, const EventObject& event) {
  call.Note(FindingId::kEventMisuse)
      .Say("event %p was never recorded, so there is nothing to wait for", event.handle)
      .Rule("A wait binds to the latest record before it; without one it passes at once (SPEC 20 §4.2)")
      .Fix("call aclrtRecordEvent before %s", call.name())
      .With("event created", event.created, event.device->user)
      .Send();
}

// The failure of a task that the record covers.
Status ReportRecord(const Call& call, const EventRecord& record) {
  engine::Stream& stream = *record.stream();
  if (stream.life.load(std::memory_order_relaxed) != record.stream_life()) return Status();
  return ReportFailure(call, stream, record.sequence());
}
}  // namespace

Status aclrtCreateEvent(Call& call, aclrtEvent* event) {
  return Create(call, event, Event::Family::kPlain, 0);
}

Status aclrtCreateEventExWithFlag(Call& call, aclrtEvent* event, uint32_t flag) {
  constexpr uint32_t kUsable = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE;
  constexpr char kRule[] =
      "Ex events take SYNC, CAPTURE_STREAM_PROGRESS and TIME_LINE, or IPC alone (SPEC 20 §4.1)";
  if (flag == ACL_EVENT_IPC) {
    return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
        .Say("IPC events are not built yet in this version of Belay")
        .Rule("What is not there answers 207000 and never succeeds silently (SPEC 00 rule 7)")
        .Fix("test for 207000 and use another event")
        .As(check::Severity::kNote)
        .End();
  }
  if (flag == 0 || (flag & (ACL_EVENT_EXTERNAL | ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_IPC)) != 0) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("flag is 0x%x", flag)
        .Rule(kRule)
        .Fix("pass ACL_EVENT_SYNC for an event that a stream waits for")
        .End();
  }
  if (flag != kClientDefault && (flag & ~kUsable) != 0) {
    call.Note(FindingId::kVersionDependent)
        .As(check::Severity::kNote)
        .Say("flag 0x%x has bits that are not documented; they are ignored", flag)
        .Rule(kRule)
        .Fix("pass documented flags only")
        .Send();
  }
  return Create(call, event, Event::Family::kEx, flag);
}

Status aclrtDestroyEvent(Call& call, aclrtEvent event) {
  EventObject* found = nullptr;
  BELAY_TRY(NeedEvent(call, event, &found));
  call.runtime().DestroyEvent(*found, call.now());
  return Status();
}

Status aclrtRecordEvent(Call& call, aclrtEvent event, aclrtStream stream) {
  EventObject* found = nullptr;
  StreamObject* on = nullptr;
  BELAY_TRY(NeedEventAndStream(call, event, stream, &found, &on));
  engine::Op op = SignedOp(call);
  call.engine().SubmitRecord(*on->stream, *found->event, op);
  return Status();
}

Status aclrtStreamWaitEvent(Call& call, aclrtStream stream, aclrtEvent event) {
  EventObject* found = nullptr;
  StreamObject* on = nullptr;
  BELAY_TRY(NeedEventAndStream(call, event, stream, &found, &on));
  uint32_t flags = found->event->flags();
  if (found->event->family() == Event::Family::kEx && (flags & ACL_EVENT_SYNC) == 0 &&
      flags != kClientDefault) {
    return RefuseKind(call, *found, "was created without ACL_EVENT_SYNC, so no stream can wait for it");
  }
  LatestRecord latest(*found);
  if (latest.get() == nullptr) {
    NoteUnrecorded(call, *found);
    return Status();
  }
  engine::Op op = SignedOp(call);
  call.engine().SubmitWait(*on->stream, *latest.get(), op);
  return Status();
}

Status aclrtQueryEvent(Call& call, aclrtEvent event, aclrtEventStatus* status) {
  EventObject* found = nullptr;
  BELAY_TRY(NeedEvent(call, event, &found));
  if (found->event->family() == Event::Family::kEx) {
    return RefuseKind(call, *found, "is an Ex event, which aclrtQueryEvent does not take");
  }
  call.Note(FindingId::kVersionDependent)
      .Say("aclrtQueryEvent is deprecated, and on a card it sees only records of its own thread")
      .Rule("aclrtQueryEventStatus replaces it (SPEC 20 §4.3)")
      .Fix("call aclrtQueryEventStatus; its 0 means not ready and its 1 means complete")
      .Send();
  LatestRecord latest(*found);
  bool complete = latest.get() != nullptr && call.engine().QueryRecord(*latest.get());
  if (latest.get() != nullptr && complete) BELAY_TRY(ReportRecord(call, *latest.get()));
  *status = complete ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  return Status();
}

Status aclrtQueryEventStatus(Call& call, aclrtEvent event, aclrtEventRecordedStatus* status) {
  EventObject* found = nullptr;
  BELAY_TRY(NeedEvent(call, event, &found));
  LatestRecord latest(*found);
  bool complete = found->event->family() == Event::Family::kEx;  // never recorded: nothing is missing
  if (latest.get() != nullptr) {
    complete = call.engine().QueryRecord(*latest.get());
    if (complete) BELAY_TRY(ReportRecord(call, *latest.get()));
  }
  *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return Status();
}

Status aclrtQueryEventWaitStatus(Call& call, aclrtEvent event, aclrtEventWaitStatus* status) {
  EventObject* found = nullptr;
  BELAY_TRY(NeedEvent(call, event, &found));
  if (found->event->family() == Event::Family::kEx) {
    return RefuseKind(call, *found, "is an Ex event, which aclrtQueryEventWaitStatus does not take");
  }
  LatestRecord latest(*found);
  bool complete = latest.get() == nullptr || call.engine().QueryRecord(*latest.get());
  if (latest.get() != nullptr && complete) BELAY_TRY(ReportRecord(call, *latest.get()));
  complete = complete && found->event->pending_waits.load(std::memory_order_acquire) == 0;
  *status = complete ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
  return Status();
}

namespace {
Status Synchronize(Call& call, aclrtEvent event, int32_t timeout_ms) {
  EventObject* found = nullptr;
  BELAY_TRY(NeedEvent(call, event, &found));
  LatestRecord latest(*found);
  if (latest.get() == nullptr) {
    NoteUnrecorded(call, *found);
    return Status();
  }
  bool done = timeout_ms == 0 ? call.engine().QueryRecord(*latest.get())
                              : call.engine().WaitRecord(*latest.get(), DeadlineOf(timeout_ms));
  if (!done) {
    Refusal refusal = call.Refuse(code::kEventTimeout, FindingId::kNeverFires);
    refusal.Say("the event was not complete within %d ms", timeout_ms)
        .Rule("An expired wait changes nothing (SPEC 20 §4.3)")
        .Plain();
    if (timeout_ms == 0) refusal.Benign();  // SPEC 11 §2
    return refusal.End();
  }
  return ReportRecord(call, *latest.get());
}
}  // namespace

Status aclrtSynchronizeEvent(Call& call, aclrtEvent event) {
  return Synchronize(call, event, -1);
}

Status aclrtSynchronizeEventWithTimeout(Call& call, aclrtEvent event, int32_t timeout) {
  if (event != nullptr) BELAY_TRY(NeedTimeout(call, timeout));
  return Synchronize(call, event, timeout);
}

}  // namespace belay::abi::body
