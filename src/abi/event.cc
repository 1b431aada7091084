// Events: creating, recording, awaiting in a stream, resetting. SPEC 20 §4; IPC events are built later.
#include <atomic>

#include "abi/call.h"
#include "abi/event_use.h"
#include "abi/op_timeout.h"
#include "abi/resolve.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"
#include "os/thread.h"

namespace belay::abi::body {
using check::FindingId;
using engine::Event;
using engine::Signal;
using facts::Cann;
using facts::Family;
using runtime::Context;
using runtime::EventObject;
using runtime::StreamObject;

namespace {

Status Create(Call& call, aclrtEvent* event, Event::Family family, uint32_t flags) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  runtime::Device& device = *context->device;
  BELAY_TRY(NeedWhole(call, device));
  Event::Traits traits;
  traits.timed = family == Event::Family::kPlain || (flags & ACL_EVENT_TIME_LINE) != 0;
  traits.bit = family == Event::Family::kFlag && (flags & (ACL_EVENT_SYNC | ACL_EVENT_EXTERNAL)) != 0;
  bool holds_at_record =
      family == Event::Family::kPlain || (family == Event::Family::kEx && (flags & ACL_EVENT_SYNC) != 0);
  if (holds_at_record) traits.ids = device.event_ids.get();
  EventObject* created = call.runtime().CreateEvent(family, flags, device, traits, call.now());
  if (created != nullptr) {
    *event = created->handle;
    return Status();
  }
  return call.Refuse(code::kNoEvent, FindingId::kResourceExhausted)
      .On(device.user)
      .Say("device %d has no event id left: this process holds %u of %u", device.user,
           device.event_ids->held(), device.event_ids->limit())
      .Rule(
          "An event with ACL_EVENT_SYNC from aclrtCreateEventWithFlag holds an id until it is destroyed "
          "(SPEC 20 §4.1)")
      .Fix("destroy events that are no longer used, or create them with aclrtCreateEventExWithFlag")
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

// An event and the stream that records or awaits it, in the documented order of tests. `forbidden` says why
// the event cannot be used so, or nothing.
Status NeedEventAndStream(const Call& call, const void* event, const void* stream,
                          const char* (*forbidden)(const Event&), EventObject** found, StreamObject** on) {
  Context* context = nullptr;
  if (event == nullptr) return NeedEvent(call, event, found);
  if (EventObject* known = call.runtime().FindEvent(event); known != nullptr && forbidden != nullptr) {
    if (const char* why = forbidden(*known->event); why != nullptr) return RefuseEventKind(call, *known, why);
  }
  BELAY_TRY(NeedContext(call, &context));
  BELAY_TRY(NeedEvent(call, event, found));
  BELAY_TRY(NeedStream(call, *context, stream, on));
  BELAY_TRY(NeedSameDevice(call, **found, **on));
  return NeedStreamToSubmit(call, stream, on);
}

const char* WhyNotAwaited(const Event& event) {
  bool ex_without = event.family() == Event::Family::kEx && (event.flags() & ACL_EVENT_SYNC) == 0 &&
                    event.flags() != kClientDefaultFlags;
  bool flag_without = event.family() == Event::Family::kFlag && event.bit() == nullptr;
  return ex_without || flag_without ? "was created without ACL_EVENT_SYNC, so no stream can wait for it"
                                    : nullptr;
}

const char* WhyNotReset(const Event& event) {
  if (event.family() == Event::Family::kEx) return "is an Ex event, which aclrtResetEvent does not take";
  return event.family() == Event::Family::kFlag && event.bit() == nullptr
             ? "was created without ACL_EVENT_SYNC, so it cannot be reset"
             : nullptr;
}

// A record holds an id (SPEC 20 §4.1): at the limit the call waits while tasks that run may give one back.
Status NeedRecordId(const Call& call, EventObject& event) {
  IdPool* ids = event.event->ids();
  if (ids == nullptr || !ids->full()) [[likely]]
    return Status();
  for (;;) {
    engine::Engine::Activity activity = call.engine().LookAround(nullptr);
    if (!activity.running && !activity.held) break;
    for (StreamObject* stream : call.runtime().StreamsOf(*event.device)) {
      engine::Stream& inner = *stream->stream;
      if (inner.Idle()) continue;
      call.engine().Wait(inner, inner.done() + 1, os::MonotonicNs() + 1'000'000);
      break;
    }
    if (!ids->full()) return Status();
  }
  if (!ids->full()) return Status();
  return call.Refuse(code::kNoEvent, FindingId::kResourceExhausted)
      .On(event.device->user)
      .Say("device %d has no event id left: this process holds %u of %u, and no task can give one back",
           event.device->user, ids->held(), ids->limit())
      .Rule("A record holds an event id until it completed and every wait bound to it passed (SPEC 20 §4.1)")
      .Fix("synchronise streams, or destroy events that hold an id")
      .End();
}

// SPEC 20 §4.2: the bit is set still, so a wait that should see the new record may pass early (W-REUSE).
void NoteReuse(const Call& call, const EventObject& event, const StreamObject& stream) {
  call.Note(FindingId::kEventMisuse)
      .On(stream.device->user, stream.id)
      .Say("event %p is recorded again without a reset between", event.handle)
      .Rule("A wait for a flag event passes as soon as its bit is set, by whichever record (SPEC 20 §4.2)")
      .Fix("call aclrtResetEvent after the waits, or use aclrtCreateEventExWithFlag")
      .With("recorded before", event.last_record.Get(), event.device->user)
      .With("event created", event.created, event.device->user)
      .Send();
}

Status WaitInStream(Call& call, aclrtStream stream, aclrtEvent event, int64_t timeout_ns) {
  EventObject* found = nullptr;
  StreamObject* on = nullptr;
  BELAY_TRY(NeedEventAndStream(call, event, stream, WhyNotAwaited, &found, &on));
  engine::Op op = SignedOp(call);
  if (Signal* bit = found->event->bit(); bit != nullptr) {
    call.engine().SubmitAwait(*on->stream, *bit, Signal::Condition::kGreaterOrEqual, 1, false, timeout_ns,
                              op);
    return Submitted(call, op);
  }
  LatestRecord latest(*found);
  if (!latest) NoteUnrecorded(call, *found, on->id);
  // SPEC 20 §3.3: a record that an abort dropped leaves what was there before.
  if (!latest || (latest->dropped() && latest->follows_complete())) {
    call.engine().SubmitPass(*on->stream, op);
    return Submitted(call, op);
  }
  call.engine().SubmitWait(*on->stream, *latest.get(), op, timeout_ns);
  return Submitted(call, op);
}
}  // namespace

Status aclrtCreateEvent(Call& call, aclrtEvent* event) {
  return Create(call, event, Event::Family::kPlain, 0);
}

Status aclrtCreateEventWithFlag(Call& call, aclrtEvent* event, uint32_t flag) {
  constexpr uint32_t kKnown = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE |
                              ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL;
  Family family = call.machine().family();
  if ((flag & ACL_EVENT_DEVICE_USE_ONLY) != 0 && (family == Family::k200I || family == Family::kTrn)) {
    return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
        .Say("flag 0x%x asks for an event that only the device uses, which %s does not have", flag,
             call.machine().product().name.c_str())
        .Rule("ACL_EVENT_DEVICE_USE_ONLY exists on 950, A3, A2 and INF (SPEC 20 §4.1)")
        .Fix("create the event without it")
        .End();
  }
  bool external_and = (flag & ACL_EVENT_EXTERNAL) != 0 && flag != ACL_EVENT_EXTERNAL;
  if (flag == 0 || (flag & ~kKnown) != 0 || external_and) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("flag is 0x%x", flag)
        .Rule(
            "aclrtCreateEventWithFlag takes an OR of documented flags; EXTERNAL stands alone (SPEC 20 §4.1)")
        .Fix("pass ACL_EVENT_SYNC for an event that a stream waits for")
        .End();
  }
  return Create(call, event, Event::Family::kFlag, flag);
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
  if (flag != kClientDefaultFlags && (flag & ~kUsable) != 0) {
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
  BELAY_TRY(NeedEventAndStream(call, event, stream, nullptr, &found, &on));
  BELAY_TRY(NeedRecordId(call, *found));
  bool again = found->recorded.exchange(true, std::memory_order_relaxed);
  if (again && found->event->bit() != nullptr) NoteReuse(call, *found, *on);
  found->last_record.Set(call.now());
  engine::Op op = SignedOp(call);
  call.engine().SubmitRecord(*on->stream, *found->event, op);
  return Submitted(call, op);
}

Status aclrtStreamWaitEvent(Call& call, aclrtStream stream, aclrtEvent event) {
  return WaitInStream(call, stream, event, OpWaitTimeoutNs());
}

Status aclrtStreamWaitEventWithTimeout(Call& call, aclrtStream stream, aclrtEvent event, int32_t timeout) {
  // SPEC 20 §4.3: milliseconds up to 9.1.
  if (event != nullptr && timeout <= 0) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("timeout is %d", timeout)
        .Rule("The limit of a wait in a stream is more than 0 milliseconds (SPEC 20 §4.3)")
        .Fix("pass milliseconds, or call aclrtStreamWaitEvent for a wait without a limit")
        .End();
  }
  return WaitInStream(call, stream, event, int64_t{timeout} * 1'000'000);
}

Status aclrtResetEvent(Call& call, aclrtEvent event, aclrtStream stream) {
  EventObject* found = nullptr;
  StreamObject* on = nullptr;
  BELAY_TRY(NeedEventAndStream(call, event, stream, WhyNotReset, &found, &on));
  if (found->event->family() == Event::Family::kPlain) {
    call.Note(FindingId::kEventMisuse)
        .On(on->device->user, on->id)
        .Say("event %p, from aclrtCreateEvent, is reset", event)
        .Rule(
            "Only events of aclrtCreateEventWithFlag with ACL_EVENT_SYNC are reset; recording again is "
            "enough for others (SPEC 20 §4.2)")
        .Fix("leave out aclrtResetEvent")
        .With("event created", found->created, found->device->user)
        .Send();
  }
  found->recorded.store(false, std::memory_order_relaxed);
  engine::Op op = SignedOp(call);
  call.engine().SubmitReset(*on->stream, *found->event, op);
  return Submitted(call, op);
}

}  // namespace belay::abi::body
