// Finalises while host functions are inside user code and queued behind it: the call waits for them, and for
// their bytes. Many lives of the runtime in one process leave no more threads than one.
#include "tasks.h"

namespace program {
namespace {

// `last` ends the life: a reset of the device and finalising, or only the latter.
void Live(bool reset, uint32_t seed) {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  aclrtStream stream = NewStream(), other = NewStream();
  constexpr size_t kSize = size_t{1} << 20;
  uint8_t *source = Pinned(kSize, static_cast<uint8_t>(seed)), *block = OnDevice(kSize, 0);
  auto* gate = new Gate;
  Signal behind;
  aclrtEvent event = nullptr;
  OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  OK(aclrtLaunchHostFunc(stream, Gate::Body, gate));
  OK(aclrtMemcpyAsync(block, kSize, source, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  OK(aclrtRecordEvent(event, stream));
  OK(aclrtStreamWaitEvent(other, event));
  OK(aclrtLaunchHostFunc(other, Signal::Body, &behind));
  gate->entered.Wait();
  // Opened while the main thread waits, or just before.
  std::thread opener([&] { gate->go.Set(); });
  if (reset) OK(aclrtResetDevice(0));
  OK(aclFinalize());
  CHECK(gate->passed.is_set());
  CHECK(behind.is_set());
  opener.join();
  delete gate;
}

}  // namespace
}  // namespace program

int main() {
  using namespace program;
  SetWatchdog();
  Live(false, 1);
  Live(true, 2);
  CHECK(Eventually([] { return CountTasks("belay-host") == 0; }));
  const size_t threads = Tasks().size();
  for (uint32_t life = 0; life < 40; ++life) Live(life % 2 == 0, life);
  CHECK(Eventually([&] { return Tasks().size() <= threads; }));
  return 0;
}
