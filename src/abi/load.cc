// What happens when the library enters and leaves a process.
#include <cstdlib>

#include "check/run_page.h"
#include "runtime/runtime.h"

namespace belay::abi {
namespace {

// `belay run` asks at the end whether any process of the run loaded the library at all.
__attribute__((constructor)) void Load() {
  check::RunPage::NoteLoaded(getenv("BELAY_RUN"));
}

// Without `belay run` the report files are written here. The runtime itself is never destroyed: static
// objects of the program may still call it.
__attribute__((destructor)) void Unload() {
  if (runtime::Runtime* runtime = runtime::Runtime::Get(); runtime != nullptr) {
    if ((runtime::g_mode.load(std::memory_order_relaxed) & runtime::kForked) == 0) {
      runtime->tasks().ReportUnreported();
      runtime->ReportLeaks({});
    }
    if (runtime->host_watch() != nullptr) runtime->host_watch()->End();
    runtime->reporter().WriteReports(std::nullopt);
  }
}

}  // namespace
}  // namespace belay::abi
