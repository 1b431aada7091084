// The failure of a task, and what it stops: SPEC 21 §6.
//
// In mode CONTINUE a failure stays with its stream until a call reports it. In mode STOP, and when a device
// breaks, the first failure stops a whole domain: what is queued is dropped and every later call meets it.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/site.h"
#include "base/thread_annotations.h"

namespace belay::engine {

class Stream;

struct Failure {
  int32_t code = 0;
  uint64_t sequence = 0;  // of the failed task in its stream, from 1
  uint32_t thread = 0;    // that submitted it
  Site site;              // where
  const char* api = nullptr;
  int32_t device = -1;       // logical
  int32_t stream = -1;       // aclrtStreamGetId
  uint64_t order = 0;        // counts failures of the process, from 1
  Stream* origin = nullptr;  // while it is told
};

// The streams of one context.
class Domain {
 public:
  Domain() = default;
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  // Mode STOP: a failure of any of its streams stops them all.
  std::atomic<bool> stops_on_failure{false};

  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  Failure first_failure() const BELAY_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return first_;
  }

 private:
  friend class Engine;

  std::atomic<bool> stopped_{false};
  mutable Mutex mutex_;
  Failure first_ BELAY_GUARDED_BY(mutex_);
  std::vector<Stream*> streams_ BELAY_GUARDED_BY(mutex_);
};

}  // namespace belay::engine
