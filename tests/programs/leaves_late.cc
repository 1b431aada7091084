// Calls from destructors: of a thread, of atexit, and of static objects after main has returned, while work
// is pending and the runtime was never finalised.
#include "tasks.h"

namespace program {
namespace {

// Synchronises, and uses the runtime once more in every way.
void UseAll(aclrtStream stream, uint32_t seed) {
  OK(aclrtSetDevice(0));
  OK(aclrtSynchronizeStream(stream));
  aclrtStream other = NewStream();
  {
    RoundTrip trip(size_t{1} << 20, seed);
    Signal done;
    trip.Out(other);
    trip.Back(other);
    OK(aclrtLaunchHostFunc(other, Signal::Body, &done));
    done.Wait();
    CHECK(trip.Arrived());
    CHECK(aclrtFree(nullptr) != ACL_SUCCESS);
    CHECK(aclGetRecentErrMsg() != nullptr);
  }
  OK(aclrtDestroyStream(other));
}

Gate gate;  // destroyed after `late`

struct Late {
  ~Late() {
    if (stream == nullptr) return;
    gate.go.Set();
    UseAll(stream, seed);
    CHECK(gate.passed.is_set());
  }
  aclrtStream stream = nullptr;
  uint32_t seed = 1;
} late;
aclrtStream parked = nullptr;

struct OfThread {
  ~OfThread() {
    if (stream != nullptr) UseAll(stream, 2);
  }
  aclrtStream stream = nullptr;
};
thread_local OfThread of_thread;

void AtExit() {
  auto status = ACL_STREAM_STATUS_COMPLETE;
  OK(aclrtSetDevice(0));
  OK(aclrtStreamQuery(late.stream, &status));
  CHECK(status == ACL_STREAM_STATUS_NOT_READY);
  OK(aclrtStreamQuery(parked, &status));
  CHECK(status == ACL_STREAM_STATUS_NOT_READY);
}

}  // namespace
}  // namespace program

int main() {
  using namespace program;
  atexit(AtExit);
  Begin();
  // The object of the thread is made before and after the thread's first call.
  for (bool first : {true, false}) {
    std::thread([&] {
      if (first) of_thread.stream = nullptr;
      OK(aclrtSetDevice(0));
      of_thread.stream = NewStream();
    }).join();
  }
  aclrtEvent never = nullptr;
  OK(aclrtCreateEventWithFlag(&never, ACL_EVENT_SYNC));
  parked = NewStream();
  OK(aclrtStreamWaitEvent(parked, never));
  late.stream = NewStream();
  OK(aclrtLaunchHostFunc(late.stream, Gate::Body, &gate));
  gate.entered.Wait();
  return 0;
}
