// Host functions that are inside user code at the same time have a thread each; all of these threads end by
// themselves when there is nothing to do, and come back with the next function.
#include <memory>

#include "tasks.h"

namespace program {
namespace {

constexpr size_t kAtOnce = 8;
size_t HostThreads() {
  return CountTasks("belay-host");
}

// Every function is inside before one may leave.
void AllAtOnce() {
  std::vector<aclrtStream> streams;
  std::vector<std::unique_ptr<Gate>> gates;
  for (size_t i = 0; i < kAtOnce; ++i) {
    streams.push_back(NewStream());
    gates.push_back(std::make_unique<Gate>());
    OK(aclrtLaunchHostFunc(streams[i], Gate::Body, gates[i].get()));
  }
  for (const auto& gate : gates) gate->entered.Wait();
  CHECK(HostThreads() >= kAtOnce);
  for (const auto& gate : gates) gate->go.Set();
  for (aclrtStream stream : streams) {
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtDestroyStream(stream));
  }
}

}  // namespace
}  // namespace program

int main() {
  using namespace program;
  Begin();
  const size_t before = Tasks().size();
  AllAtOnce();
  AllAtOnce();
  CHECK(HostThreads() <= kAtOnce + 1);
  CHECK(Eventually([] { return HostThreads() == 0; }));
  // What is left are the workers and nothing else.
  size_t workers = 0;
  for (const Task& task : Tasks()) workers += task.name == "belay-worker";
  CHECK(Tasks().size() == before + workers);
  AllAtOnce();
  CHECK(HostThreads() >= 1);
  End();
  return 0;
}
