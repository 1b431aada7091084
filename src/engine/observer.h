// What the engine tells the rooms above. Threading: called from any thread; but for Submitted, outside all
// locks of the engine.
#pragma once

#include <cstdint>

#include "engine/failure.h"
#include "engine/op.h"

namespace belay::engine {

// A task as it is taken over.
struct Submission {
  const Stream* stream;  // who keeps it may compare it, no more
  int32_t device;        // of the stream, logical
  int32_t stream_id;
  uint64_t sequence;  // grows with each task of the stream's storage
  const Op& op;
  const Signal* bit;  // of the flag event that op records or resets
  bool stored;        // of a persistent stream: it is not run
};

class Observer {
 public:
  virtual ~Observer() = default;

  // --- Only if Engine::Config::watched

  // Under the stream's lock, in the order of its tasks: nothing of the engine may be called.
  virtual void Submitted(const Submission&) {}
  // The host knows that the stream's tasks up to `sequence` are done. By the way: only because a call that
  // need not wait did.
  virtual void Learned(const Stream&, uint64_t sequence, bool by_the_way) {
    static_cast<void>(sequence);
    static_cast<void>(by_the_way);
  }
  // The host knows that a record is complete.
  virtual void LearnedRecord(const EventRecord&) {}
  // A function of the program starts; one that later tasks wait for returned, and its task is about to end.
  virtual void Started(const Stream&, const Op&) {}
  virtual void Returned(const Stream&, const Op&) {}
  // Queued tasks of the stream up to `sequence` were dropped.
  virtual void Dropped(const Stream&, uint64_t sequence) { static_cast<void>(sequence); }
  // The host changed a signal at once.
  virtual void SignalChanged(const Signal&, Signal::Change, uint32_t value) { static_cast<void>(value); }

  // --- Always

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
