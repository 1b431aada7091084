// What the runtime knows about one host thread: its current context, its errors, its counters.
//
// Threading: belongs to its thread. Made at the thread's first call, given back when it ends.
#pragma once

#include <cstdint>

#include "check/run_page.h"
#include "runtime/error_log.h"
#include "runtime/objects.h"

namespace belay::runtime {

struct ThreadState {
  uint32_t id = 0;  // the kernel's
  Context* context = nullptr;
  uint32_t context_life = 0;  // Context::life when it was bound
  Moment bound;               // by which call
  Moment waiting;             // the call that waits for tasks, or did last
  int32_t last_error = 0;
  uint32_t last_task = ~uint32_t{0};  // of the latest submission (SPEC 21 §9)
  check::ThreadCounters* counters = nullptr;
  ErrorLog errors;

  // The current context; null when there is none or it died.
  Context* Current() const {
    return context != nullptr && context->life.load(std::memory_order_acquire) == context_life ? context
                                                                                               : nullptr;
  }
  void Bind(Context* to, const Moment& by) {
    context = to;
    context_life = to != nullptr ? to->life.load(std::memory_order_relaxed) : 0;
    bound = by;
  }
};

// The calling thread's state.
// `constinit` spares every use the test for a constructor.
extern constinit thread_local ThreadState* t_state __attribute__((tls_model("initial-exec")));
ThreadState& NewThreadState();
inline ThreadState& CurrentThread() {
  return t_state != nullptr ? *t_state : NewThreadState();
}

}  // namespace belay::runtime
