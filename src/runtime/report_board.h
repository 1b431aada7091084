// Callbacks on threads of the program: which stream reports to which thread, and what waits for its thread
// (SPEC 21 §2).
//
// Guarantees: callbacks of a stream run in order, on the thread it is bound to, one for each call of
// ProcessReport. Threading: everything from any thread. Lifetime: as long as the runtime.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>

#include "base/text.h"
#include "base/thread_annotations.h"
#include "engine/op.h"
#include "runtime/objects.h"

namespace belay::engine {
class Engine;
class Stream;
}  // namespace belay::engine

namespace belay::runtime {

class ReportBoard {
 public:
  static constexpr size_t kMostThreads = 1024;  // SPEC 21 §2

  // Threads are named by their pthread id, as the program passes it.
  enum class Binding : uint8_t { kBound, kStreamIsBound, kThreadHasOtherDevice, kTooManyThreads };
  Binding Subscribe(uint64_t thread, engine::Stream& stream, int device, const Moment& by)
      BELAY_EXCLUDES(mutex_);

  enum class Ending : uint8_t { kEnded, kNotBound, kOtherThread };
  // Callbacks that never run.
  struct Lost {
    size_t count = 0;
    engine::Op first;
  };
  // Callbacks that wait for the thread are waited for while it lives and polls, else dropped.
  Ending Unsubscribe(engine::Engine& engine, uint64_t thread, engine::Stream& stream, Lost* lost)
      BELAY_EXCLUDES(mutex_);
  // Ends the binding of a stream that goes away, whatever waits. True if there was one.
  bool Forget(engine::Engine& engine, engine::Stream& stream, Lost* lost) BELAY_EXCLUDES(mutex_);

  // Whether the stream is bound, and by which call.
  bool IsBound(engine::Stream& stream, Moment* by = nullptr) BELAY_EXCLUDES(mutex_);

  // Queues a callback whose turn has come; false when its stream is bound to no thread.
  bool HandOver(engine::Stream& stream, const engine::Op& op) BELAY_EXCLUDES(mutex_);

  enum class Report : uint8_t { kRan, kNothing, kNotBound };
  struct Outcome {
    Report report;
    bool threw = false;
    Text<200> what;  // of the exception, if it says
    engine::Op op;   // that ran
    engine::Stream* stream = nullptr;
  };
  // Runs the oldest callback of the calling thread. -1 = waits without limit.
  Outcome Process(engine::Engine& engine, int32_t timeout_ms) BELAY_EXCLUDES(mutex_);

 private:
  struct Item {
    engine::Stream* stream;
    engine::Op op;
  };
  struct Thread {
    int device = -1;
    size_t streams = 0;
    engine::Stream* running = nullptr;  // whose callback is running
    std::deque<Item> items;
  };

  struct Bound {
    uint64_t thread;
    Moment by;
  };
  using Bindings = std::map<engine::Stream*, Bound>;

  std::deque<Item> TakeItems(Thread& thread, engine::Stream& stream) BELAY_REQUIRES(mutex_);
  void Unbind(Bindings::iterator binding) BELAY_REQUIRES(mutex_);
  static void Lose(engine::Engine& engine, const std::deque<Item>& items, Lost* lost);
  void Changed();

  Mutex mutex_;
  std::map<uint64_t, Thread> threads_ BELAY_GUARDED_BY(mutex_);
  Bindings bindings_ BELAY_GUARDED_BY(mutex_);
  // The kernel's ids of threads that ever polled.
  std::map<uint64_t, uint32_t> pollers_ BELAY_GUARDED_BY(mutex_);
  std::atomic<uint32_t> changed_{0};  // what polling threads sleep on
};

}  // namespace belay::runtime
