// What the engine tells the rooms above. Threading: called from any thread, outside all locks of the engine.
#pragma once

#include <cstdint>

#include "engine/failure.h"
#include "engine/op.h"

namespace belay::engine {

class Observer {
 public:
  virtual ~Observer() = default;

  // A task failed, and nobody can see it yet. True: `done` is called when it may be seen, from another thread
  // or from inside this call; the stream waits for that. False: nobody wants to be told first.
  virtual bool TaskFailed(const Failure&, void (*done)(void*), void* argument) {
    static_cast<void>(done);
    static_cast<void>(argument);
    return false;
  }

  // The turn of a callback came. False: its stream has no thread for callbacks, and it is dropped. True: the
  // callback was queued for its thread; if it blocks, Engine::FinishAway is called when it returned.
  virtual bool HandOver(Stream&, const Op&) { return false; }

  // A host function returned, on a thread of the library that runs others after it.
  virtual void HostFunctionReturned() {}

  // A host function threw; `what` may be null.
  virtual void HostFunctionThrew(const Stream&, const Op&, const char* what) { static_cast<void>(what); }

  // A host thread is about to sleep, or slept for `slept_ns`, in a wait for the task.
  // Returns how long it may sleep before it asks again; os::kForever = as long as it likes.
  virtual int64_t Waiting(Stream& stream, uint64_t sequence, int64_t slept_ns) {
    static_cast<void>(stream);
    static_cast<void>(sequence);
    static_cast<void>(slept_ns);
    return -1;
  }
};

}  // namespace belay::engine
