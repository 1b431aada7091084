// Submits copies and asks a stream until it is complete; nothing synchronises. The stream that is asked may
// wait for another one that nobody asks.
#include "link.h"

namespace program {
namespace {

void AskUntilComplete(aclrtStream stream) {
  for (auto status = ACL_STREAM_STATUS_NOT_READY; status != ACL_STREAM_STATUS_COMPLETE;) {
    OK(aclrtStreamQuery(stream, &status));
  }
}

void PollByTimeout(aclrtStream stream) {
  while (aclrtSynchronizeStreamWithTimeout(stream, 0) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
  }
}
void PollDevice(aclrtStream) {
  while (aclrtSynchronizeDeviceWithTimeout(0) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
  }
}
constexpr auto kWays = {AskUntilComplete, PollByTimeout, PollDevice};
using Ask = void (*)(aclrtStream);

void OneStream(Ask ask, size_t size, int trips) {
  aclrtStream stream = NewStream();
  RoundTrip trip(size, 1);
  for (int i = 0; i < trips; ++i) {
    trip.Out(stream);
    trip.Back(stream);
  }
  ask(stream);
  CHECK(trip.Arrived());
  OK(aclrtDestroyStream(stream));
}

// Out on one stream, back on another; only the last one is asked.
void BehindAnother(Ask ask, LinkKind kind, size_t size, bool wait_first) {
  aclrtStream first = NewStream(), last = NewStream();
  Link link(kind);
  RoundTrip trip(size, 2);
  const auto wait = [&] {
    link.Wait(last);
    trip.Back(last);
  };
  if (wait_first && !link.may_wait_first()) wait_first = false;
  if (wait_first) wait();
  trip.Out(first);
  link.Record(first);
  if (!wait_first) wait();
  ask(last);
  CHECK(trip.Arrived());
  OK(aclrtDestroyStream(last));
  OK(aclrtDestroyStream(first));
}

// A chain of streams, each behind the one before.
void AtTheEndOfAChain(LinkKind kind) {
  constexpr size_t kStreams = 5;
  std::vector<aclrtStream> streams;
  for (size_t i = 0; i < kStreams; ++i) streams.push_back(NewStream());
  {
    RoundTrip trip(size_t{1} << 20, 3);
    Link a(kind), b(kind), c(kind), d(kind);
    Link* links[] = {&a, &b, &c, &d};
    trip.Out(streams[0]);
    for (size_t i = 0; i + 1 < kStreams; ++i) {
      links[i]->Record(streams[i]);
      links[i]->Wait(streams[i + 1]);
    }
    trip.Back(streams.back());
    AskUntilComplete(streams.back());
    CHECK(trip.Arrived());
  }
  for (aclrtStream stream : streams) OK(aclrtDestroyStream(stream));
}

}  // namespace
}  // namespace program

int main() {
  using namespace program;
  Begin();
  for (size_t size : {size_t{64}, size_t{300} << 10, size_t{3} << 20}) {
    for (Ask ask : kWays) {
      OneStream(ask, size, 1);
      OneStream(ask, size, 20);
      for (LinkKind kind : kLinkKinds) {
        BehindAnother(ask, kind, size, false);
        BehindAnother(ask, kind, size, true);
      }
    }
  }
  for (LinkKind kind : kLinkKinds) AtTheEndOfAChain(kind);
  End();
  return 0;
}
