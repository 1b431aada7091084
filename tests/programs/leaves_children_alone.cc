// Forks while workers copy, a host function is inside user code, a callback thread polls and another thread
// has its calls refused: every call of a child answers as the fork rule says (SPEC 10 §7.4), the child ends
// by itself, and the parent's work goes on.
#include <sys/wait.h>

#include <atomic>

#include "tasks.h"

namespace program {
namespace {

constexpr aclError kForked = ACL_ERROR_RT_INTERNAL_ERROR;

void Nothing(void*) {}

// With exit, not _exit: destructors of the library run in the child.
[[noreturn]] void Child(aclrtStream stream, uint64_t report, uint8_t* block) {
  SetWatchdog();
  uint32_t count = 0;
  auto status = ACL_STREAM_STATUS_RESERVED;
  uint8_t host[8] = {};
  CODE(kForked, aclrtGetDeviceCount(&count));
  CODE(kForked, aclrtLaunchHostFunc(stream, Nothing, nullptr));
  CODE(kForked, aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_BLOCK, stream));
  CODE(kForked, aclrtProcessReport(1));
  CODE(kForked, aclrtSubscribeReport(report, stream));
  CODE(kForked, aclrtUnSubscribeReport(report, stream));
  CODE(kForked, aclrtStreamQuery(stream, &status));
  CODE(kForked, aclrtSynchronizeStream(stream));
  CODE(kForked, aclrtSynchronizeDevice());
  CODE(kForked, aclrtMemcpyAsync(block, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  CODE(kForked, aclrtMemcpy(host, 8, block, 8, ACL_MEMCPY_DEVICE_TO_HOST));
  CODE(kForked, aclrtDestroyStream(stream));
  CODE(kForked, aclrtFree(block));
  CODE(kForked, aclFinalize());
  CHECK(aclGetRecentErrMsg() != nullptr);
  CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == kForked);
  exit(0);
}

void ForkAndWait(aclrtStream stream, uint64_t report, uint8_t* block) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) Child(stream, report, block);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

struct Forker {
  aclrtStream stream;
  uint64_t report;
  uint8_t* block;
  Signal done;
  static void Body(void* raw) {
    auto& self = *static_cast<Forker*>(raw);
    ForkAndWait(self.stream, self.report, self.block);
    self.done.Set();
  }
};

}  // namespace
}  // namespace program

int main() {
  using namespace program;
  Begin();
  aclrtStream copies = NewStream(), gated = NewStream(), called = NewStream();
  std::atomic<bool> ends{false};
  Signal polls;
  std::thread poller([&] {
    aclrtProcessReport(1);
    polls.Set();
    while (!ends) aclrtProcessReport(50);
  });
  const auto report = static_cast<uint64_t>(poller.native_handle());
  polls.Wait();
  OK(aclrtSubscribeReport(report, called));
  std::thread refused([&] {
    while (!ends) {
      CHECK(aclrtFree(nullptr) != ACL_SUCCESS);
      CHECK(aclrtSetDevice(-1) != ACL_SUCCESS);
    }
  });
  {
    RoundTrip trip(size_t{4} << 20, 1);
    uint8_t* block = OnDevice(64, 1);
    Gate gate;
    OK(aclrtLaunchHostFunc(gated, Gate::Body, &gate));
    gate.entered.Wait();
    for (int i = 0; i < 20; ++i) {
      trip.Out(copies);
      trip.Back(copies);
      OK(aclrtLaunchHostFunc(copies, Nothing, nullptr));
      OK(aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_NO_BLOCK, called));
      ForkAndWait(copies, report, block);
    }
    // From inside user code of both kinds.
    Forker in_function{copies, report, block, {}}, in_callback{copies, report, block, {}};
    OK(aclrtLaunchHostFunc(copies, Forker::Body, &in_function));
    OK(aclrtLaunchCallback(Forker::Body, &in_callback, ACL_CALLBACK_BLOCK, called));
    in_function.done.Wait();
    in_callback.done.Wait();
    gate.go.Set();
    for (aclrtStream stream : {copies, gated, called}) OK(aclrtSynchronizeStream(stream));
    CHECK(gate.passed.is_set());
    CHECK(trip.Arrived());
    OK(aclrtFree(block));
  }
  OK(aclrtUnSubscribeReport(report, called));
  ends = true;
  refused.join();
  poller.join();
  for (aclrtStream stream : {copies, gated, called}) OK(aclrtDestroyStream(stream));
  End();
  return 0;
}
