// The main thread waits outside the API for a condition variable that a host function signals, and then looks
// at bytes that must have arrived before.
#include "link.h"

namespace program {
namespace {

void SameStream(size_t size) {
  aclrtStream stream = NewStream();
  RoundTrip trip(size, 1);
  Signal done;
  trip.Out(stream);
  trip.Back(stream);
  OK(aclrtLaunchHostFunc(stream, Signal::Body, &done));
  done.Wait();
  CHECK(trip.Arrived());
  OK(aclrtDestroyStream(stream));
}

// The stream of the function first waits for work of another, submitted before or after the function.
void BehindAnother(LinkKind kind, bool function_first) {
  aclrtStream first = NewStream(), last = NewStream();
  Link link(kind);
  if (!link.may_wait_first()) function_first = false;
  RoundTrip trip(size_t{2} << 20, 2);
  Signal done;
  const auto wait = [&] {
    link.Wait(last);
    OK(aclrtLaunchHostFunc(last, Signal::Body, &done));
  };
  if (function_first) wait();
  trip.Out(first);
  trip.Back(first);
  link.Record(first);
  if (!function_first) wait();
  done.Wait();
  CHECK(trip.Arrived());
  OK(aclrtDestroyStream(last));
  OK(aclrtDestroyStream(first));
}

// Two links of two kinds between the copies and the function.
void BehindTwoOthers(LinkKind one, LinkKind two) {
  aclrtStream first = NewStream(), middle = NewStream(), last = NewStream();
  Link front(one), back(two);
  RoundTrip trip(size_t{1} << 20, 3);
  Signal done;
  trip.Out(first);
  front.Record(first);
  front.Wait(middle);
  trip.Back(middle);
  back.Record(middle);
  back.Wait(last);
  OK(aclrtLaunchHostFunc(last, Signal::Body, &done));
  done.Wait();
  CHECK(trip.Arrived());
  for (aclrtStream stream : {last, middle, first}) OK(aclrtDestroyStream(stream));
}

// The function of one stream waits in its body for the function of another, which is submitted later.
struct Meeting {
  Signal other, done;
  static void WaitForOther(void* meeting) {
    static_cast<Meeting*>(meeting)->other.Wait();
    static_cast<Meeting*>(meeting)->done.Set();
  }
};
void FunctionsMeet() {
  aclrtStream waiting = NewStream(), signalling = NewStream();
  RoundTrip trip(size_t{1} << 20, 4);
  Meeting meeting;
  OK(aclrtLaunchHostFunc(waiting, Meeting::WaitForOther, &meeting));
  trip.Out(signalling);
  trip.Back(signalling);
  OK(aclrtLaunchHostFunc(signalling, Signal::Body, &meeting.other));
  meeting.done.Wait();
  CHECK(trip.Arrived());
  OK(aclrtDestroyStream(waiting));
  OK(aclrtDestroyStream(signalling));
}

}  // namespace
}  // namespace program

int main() {
  using namespace program;
  Begin();
  for (size_t size : {size_t{64}, size_t{300} << 10, size_t{64} << 20}) SameStream(size);
  for (LinkKind kind : kLinkKinds) {
    BehindAnother(kind, false);
    BehindAnother(kind, true);
    for (LinkKind other : kLinkKinds) BehindTwoOthers(kind, other);
  }
  for (int i = 0; i < 20; ++i) FunctionsMeet();
  End();
  return 0;
}
