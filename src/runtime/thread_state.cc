#include "runtime/thread_state.h"

#include <pthread.h>

#include "os/fault.h"
#include "os/thread.h"
#include "runtime/runtime.h"

namespace belay::runtime {

constinit thread_local ThreadState* t_state __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {
void End(void* raw) {
  auto* state = static_cast<ThreadState*>(raw);
  if (Runtime* runtime = Runtime::Get(); runtime != nullptr && state->counters != nullptr) {
    runtime->reporter().page().ReleaseSlot(state->counters);
  }
  os::ReturnAlternateStack();
  t_state = nullptr;
  delete state;
}

pthread_key_t Key() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    pthread_key_create(&made, End);
    return made;
  }();
  return key;
}
}  // namespace

ThreadState& NewThreadState() {
  auto* state = new ThreadState;
  state->id = os::ThreadId();
  state->counters = Runtime::Start().reporter().page().AcquireSlot();
  t_state = state;
  // A guarded page may be one of the thread's own stack.
  if (Runtime::Get()->host_watch() != nullptr) os::TakeAlternateStack();
  // A destructor of the program may call once more after this ran; it then gets a new state, which is leaked.
  pthread_setspecific(Key(), state);
  return *state;
}

}  // namespace belay::runtime
