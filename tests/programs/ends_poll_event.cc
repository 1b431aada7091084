// Submits copies and asks an event until it is complete; nothing synchronises. Every query of every kind of
// event that it is for.
#include "link.h"

namespace program {
namespace {

void AskStatus(aclrtEvent event) {
  for (auto status = ACL_EVENT_RECORDED_STATUS_NOT_READY; status != ACL_EVENT_RECORDED_STATUS_COMPLETE;) {
    OK(aclrtQueryEventStatus(event, &status));
  }
}
void AskOld(aclrtEvent event) {
  for (auto status = ACL_EVENT_STATUS_NOT_READY; status != ACL_EVENT_STATUS_COMPLETE;) {
    OK(aclrtQueryEvent(event, &status));
  }
}
void PollByTimeout(aclrtEvent event) {
  for (aclError code = ACL_ERROR_RT_EVENT_SYNC_TIMEOUT; code != ACL_SUCCESS;) {
    code = aclrtSynchronizeEventWithTimeout(event, 0);
    CHECK(code == ACL_SUCCESS || code == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  }
}

void PollByTime(aclrtEvent event) {
  for (aclError code = ACL_ERROR_RT_EVENT_NOT_COMPLETE; code != ACL_SUCCESS;) {
    uint64_t time = 0;
    code = aclrtEventGetTimestamp(event, &time);
    CHECK(code == ACL_SUCCESS || code == ACL_ERROR_RT_EVENT_NOT_COMPLETE);
  }
}

aclrtEvent Plain() {
  aclrtEvent event = nullptr;
  OK(aclrtCreateEvent(&event));
  return event;
}
aclrtEvent Ex() {
  aclrtEvent event = nullptr;
  OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  return event;
}
aclrtEvent WithFlag() {
  aclrtEvent event = nullptr;
  OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
  return event;
}

struct Way {
  aclrtEvent (*make)();
  void (*ask)(aclrtEvent);
};
constexpr Way kWays[] = {{Plain, AskStatus},  {Ex, AskStatus},           {WithFlag, AskStatus},
                         {Plain, AskOld},     {WithFlag, AskOld},        {Plain, PollByTimeout},
                         {Ex, PollByTimeout}, {WithFlag, PollByTimeout}, {Plain, PollByTime}};

// The event is recorded behind both copies, and more work follows it.
void Recorded(const Way& way, size_t size) {
  aclrtStream stream = NewStream();
  aclrtEvent event = way.make();
  RoundTrip trip(size, 1), later(size, 2);
  trip.Out(stream);
  trip.Back(stream);
  OK(aclrtRecordEvent(event, stream));
  later.Out(stream);
  way.ask(event);
  CHECK(trip.Arrived());
  OK(aclrtDestroyEvent(event));
  OK(aclrtDestroyStream(stream));
}

// The stream of the record waits for another.
void RecordedBehindAnother(const Way& way, LinkKind kind, size_t size) {
  aclrtStream first = NewStream(), last = NewStream();
  aclrtEvent event = way.make();
  Link link(kind);
  RoundTrip trip(size, 3);
  trip.Out(first);
  link.Record(first);
  link.Wait(last);
  trip.Back(last);
  OK(aclrtRecordEvent(event, last));
  way.ask(event);
  CHECK(trip.Arrived());
  OK(aclrtDestroyEvent(event));
  OK(aclrtDestroyStream(last));
  OK(aclrtDestroyStream(first));
}

}  // namespace
}  // namespace program

int main() {
  using namespace program;
  Begin();
  for (size_t size : {size_t{64}, size_t{300} << 10, size_t{3} << 20}) {
    for (const Way& way : kWays) {
      Recorded(way, size);
      for (LinkKind kind : kLinkKinds) RecordedBehindAnother(way, kind, size);
    }
  }
  End();
  return 0;
}
