// As with a host function, but the condition variable is signalled by a callback on a thread of the program.
#include <atomic>

#include "link.h"

namespace program {
namespace {

// Runs callbacks until the end of the scope.
class Subscriber {
 public:
  Subscriber()
      : thread_([this] {
          aclrtProcessReport(1);
          ready_.Set();
          while (!ends_) aclrtProcessReport(100);
        }) {
    ready_.Wait();
  }
  ~Subscriber() {
    ends_ = true;
    thread_.join();
  }
  uint64_t id() { return static_cast<uint64_t>(thread_.native_handle()); }

 private:
  Signal ready_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

void SameStream(Subscriber& subscriber, aclrtCallbackBlockType type, size_t size) {
  aclrtStream stream = NewStream();
  OK(aclrtSubscribeReport(subscriber.id(), stream));
  RoundTrip trip(size, 1);
  Signal done;
  trip.Out(stream);
  trip.Back(stream);
  OK(aclrtLaunchCallback(Signal::Body, &done, type, stream));
  done.Wait();
  CHECK(trip.Arrived());
  OK(aclrtUnSubscribeReport(subscriber.id(), stream));
  OK(aclrtDestroyStream(stream));
}

void BehindAnother(Subscriber& subscriber, aclrtCallbackBlockType type, LinkKind kind) {
  aclrtStream first = NewStream(), last = NewStream();
  OK(aclrtSubscribeReport(subscriber.id(), last));
  Link link(kind);
  RoundTrip trip(size_t{1} << 20, 2);
  Signal done;
  trip.Out(first);
  trip.Back(first);
  link.Record(first);
  link.Wait(last);
  OK(aclrtLaunchCallback(Signal::Body, &done, type, last));
  done.Wait();
  CHECK(trip.Arrived());
  OK(aclrtUnSubscribeReport(subscriber.id(), last));
  OK(aclrtDestroyStream(last));
  OK(aclrtDestroyStream(first));
}

}  // namespace
}  // namespace program

int main() {
  using namespace program;
  Begin();
  {
    Subscriber subscriber;
    for (auto type : {ACL_CALLBACK_NO_BLOCK, ACL_CALLBACK_BLOCK}) {
      for (size_t size : {size_t{64}, size_t{300} << 10, size_t{64} << 20})
        SameStream(subscriber, type, size);
      for (LinkKind kind : kLinkKinds) BehindAnother(subscriber, type, kind);
    }
  }
  End();
  return 0;
}
