// Submits copies before a wait for an event, and asks until the waits for the event are done; nothing
// synchronises.
#include "program.h"

namespace program {
namespace {

void AskWaits(aclrtEvent event) {
  for (auto status = ACL_EVENT_WAIT_STATUS_NOT_READY; status != ACL_EVENT_WAIT_STATUS_COMPLETE;) {
    OK(aclrtQueryEventWaitStatus(event, &status));
  }
}

// The copies are of the stream that waits, or of the one that records.
void Asked(aclrtEvent event, size_t size, bool in_waiter) {
  aclrtStream recorder = NewStream(), waiter = NewStream();
  {
    RoundTrip trip(size, 4);
    trip.Out(in_waiter ? waiter : recorder);
    trip.Back(in_waiter ? waiter : recorder);
    OK(aclrtRecordEvent(event, recorder));
    OK(aclrtStreamWaitEvent(waiter, event));
    AskWaits(event);
    CHECK(trip.Arrived());
  }
  OK(aclrtDestroyEvent(event));
  OK(aclrtDestroyStream(waiter));
  OK(aclrtDestroyStream(recorder));
}

// Without any wait: the answer is that of the record.
void OnlyRecorded(aclrtEvent event, size_t size) {
  aclrtStream stream = NewStream();
  {
    RoundTrip trip(size, 5);
    trip.Out(stream);
    trip.Back(stream);
    OK(aclrtRecordEvent(event, stream));
    AskWaits(event);
    CHECK(trip.Arrived());
  }
  OK(aclrtDestroyEvent(event));
  OK(aclrtDestroyStream(stream));
}

aclrtEvent Plain() {
  aclrtEvent event = nullptr;
  OK(aclrtCreateEvent(&event));
  return event;
}
aclrtEvent WithFlag() {
  aclrtEvent event = nullptr;
  OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
  return event;
}

}  // namespace
}  // namespace program

int main() {
  using namespace program;
  Begin();
  for (size_t size : {size_t{64}, size_t{300} << 10, size_t{3} << 20}) {
    for (auto* make : {Plain, WithFlag}) {
      OnlyRecorded(make(), size);
      Asked(make(), size, false);
      Asked(make(), size, true);
    }
  }
  End();
  return 0;
}
