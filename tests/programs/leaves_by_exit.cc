// leaves_by_exit WAY: the process ends with everything pending: a host function inside user code and one
// behind it, a held stream, a stream that waits for what nobody records, a wait with a limit, a callback not
// called, copies on the way.
#include <belay/control.h>

#include "tasks.h"

namespace program {
namespace {

void Leave(void*) {
  exit(0);
}

// Never destroyed: threads use them to the end.
struct Everything {
  aclrtStream gated = NewStream(), held = NewStream(), parked = NewStream(), limited = NewStream(),
              called = NewStream(), copies = NewStream();
  aclrtEvent never = nullptr;
  aclrtNotify notify = nullptr;
  Gate gate;
  Signal behind, polls;
  RoundTrip trip{size_t{8} << 20, 1};
  uint64_t report = 0;

  Everything() {
    OK(aclrtLaunchHostFunc(gated, Gate::Body, &gate));
    OK(aclrtLaunchHostFunc(gated, Signal::Body, &behind));
    gate.entered.Wait();
    OK(belay_hold_stream(held));
    trip.Out(held);
    OK(aclrtLaunchHostFunc(held, Signal::Body, &behind));
    OK(aclrtCreateEventWithFlag(&never, ACL_EVENT_SYNC));
    OK(aclrtStreamWaitEvent(parked, never));
    OK(aclrtLaunchHostFunc(parked, Signal::Body, &behind));
    OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    OK(aclrtWaitAndResetNotify(notify, limited, 3600));
    CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(limited, 1));
    std::thread poller([this] {
      aclrtProcessReport(1);
      polls.Set();
      for (;;) aclrtProcessReport(-1);
    });
    report = static_cast<uint64_t>(poller.native_handle());
    polls.Wait();
    poller.detach();
    OK(aclrtSubscribeReport(report, called));
    for (int i = 0; i < 20; ++i) {
      trip.Out(copies);
      trip.Back(copies);
    }
  }
};

}  // namespace
}  // namespace program

int main(int argc, char** argv) {
  using namespace program;
  CHECK(argc == 2);
  const std::string way = argv[1];
  Begin();
  auto& all = *new Everything;
  aclrtContext context = nullptr;
  OK(aclrtGetCurrentContext(&context));
  if (way == "return") return 0;
  if (way == "exit") exit(0);
  if (way == "quick") quick_exit(0);
  if (way == "thread") {
    // The main thread is in a wait that never ends.
    std::thread([] { exit(0); }).detach();
    aclrtSynchronizeStream(all.parked);
  } else if (way == "function") {
    aclrtStream stream = NewStream();
    OK(aclrtLaunchHostFunc(stream, Leave, nullptr));
    aclrtSynchronizeStream(all.parked);
  } else if (way == "callback") {
    OK(aclrtLaunchCallback(Leave, nullptr, ACL_CALLBACK_BLOCK, all.called));
    aclrtSynchronizeStream(all.parked);
  } else if (way == "inside") {
    // Threads are inside calls of every kind that waits.
    std::vector<std::function<void()>> calls = {
        [&] { aclrtSynchronizeStream(all.held); }, [&] { aclrtSynchronizeEvent(all.never); },
        [&] { aclrtSynchronizeDevice(); }, [&] { aclrtDestroyStream(all.parked); }};
    for (auto& call : calls) {
      std::thread([&call, context] {
        OK(aclrtSetCurrentContext(context));
        call();
        for (;;) pause();
      }).detach();
    }
    exit(0);
  }
  // None of the ways comes here.
  return 5;
}
