// Looks at host threads that wait long: a wait that nothing can satisfy is reported as `never-fires`
// (SPEC 20 §1.4).
//
// An error as soon as it is certain: nothing runs and every thread of the program waits inside the API too,
// or what would end the wait is gone. After `stall-after` an error for streams that wait for each other,
// because only a thread that did nothing so far could help them, and a warning for every other wait. Once for
// a task. The wait itself goes on. Threading: called by the waiting threads, without locks. Cost: nothing
// before a wait has lasted a tenth of a second.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <utility>

#include "base/thread_annotations.h"
#include "check/finding.h"
#include "engine/engine.h"
#include "runtime/objects.h"

namespace belay::runtime {

class Runtime;

class StallWatch {
 public:
  StallWatch(Runtime& runtime, double stall_after_seconds)
      : runtime_(runtime), stall_after_ns_(static_cast<int64_t>(stall_after_seconds * 1e9)) {}

  // A thread waits for a task and slept so long: how long it may sleep before it asks again.
  int64_t Waiting(engine::Stream& stream, uint64_t sequence, int64_t slept_ns) BELAY_EXCLUDES(mutex_);

 private:
  struct Verdict {
    bool certain = false;  // nothing can end it
    bool cycle = false;    // nothing that is queued can
    bool stalled = false;  // there is something to say
    check::Finding finding{check::FindingId::kNeverFires};
  };
  Verdict Judge(engine::Stream& stream);
  check::Place PlaceOf(const char* role, const engine::Op& op, const engine::Stream& stream) const;
  bool NobodyElse();

  Runtime& runtime_;
  const int64_t stall_after_ns_;
  Mutex mutex_;
  std::set<std::pair<engine::Stream*, uint64_t>> said_ BELAY_GUARDED_BY(mutex_);
};

}  // namespace belay::runtime
