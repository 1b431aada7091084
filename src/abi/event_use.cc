#include "abi/event_use.h"

namespace belay::abi {
using check::FindingId;

Status RefuseEventKind(const Call& call, const runtime::EventObject& event, const char* why) {
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .As(check::Severity::kError)
      .Say("event %p %s", event.handle, why)
      .Rule("What an event may be used for follows from how it was created (SPEC 20 §4.1, §4.3)")
      .Fix("create the event with aclrtCreateEvent, or with ACL_EVENT_SYNC if a stream waits for it")
      .With("event created", event.created, event.device->user)
      .End();
}

void NoteUnrecorded(const Call& call, const runtime::EventObject& event, int stream) {
  call.Note(FindingId::kEventMisuse)
      .On(event.device->user, stream)
      .Say("event %p was never recorded, so there is nothing to wait for", event.handle)
      .Rule("A wait binds to the latest record before it; without one it passes at once (SPEC 20 §4.2)")
      .Fix("call aclrtRecordEvent before %s", call.name())
      .With("event created", event.created, event.device->user)
      .Send();
}

Status ReportRecord(const Call& call, const engine::EventRecord& record) {
  engine::Stream& stream = *record.stream();
  if (stream.life.load(std::memory_order_relaxed) != record.stream_life()) return Status();
  if (engine::Domain* domain = stream.domain; domain != nullptr && domain->stopped()) [[unlikely]] {
    return SayFailure(call, domain->first_failure()).Say("; what it belonged to is stopped").End();
  }
  return ReportFailure(call, stream, record.sequence());
}

}  // namespace belay::abi
