// Which tasks the host knows to be complete: what it learned of a stream, and all that is ordered before it,
// through waits of streams for each other (SPEC 20 §1.1, H3, H7, H9, H10).
//
// Guarantees: never knows too little. It may know too much, where a signal was changed several times: a wait
// counts as satisfied by all changes until the host learned of it. Threading: everything may be called from
// any thread, Before also in a signal handler. Cost: learning is a look-up and a step for each wait that it
// passes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/own_storage.h"
#include "os/shared_lock.h"

namespace belay::check {

class HostKnowledge {
 public:
  using Stream = const void*;
  // A stream up to a task.
  struct Point {
    Stream stream;
    uint64_t sequence;
  };

  HostKnowledge() = default;
  HostKnowledge(const HostKnowledge&) = delete;
  HostKnowledge& operator=(const HostKnowledge&) = delete;

  // Task `waiting` and those after it are ordered after `awaited`.
  void AddWait(Point waiting, Point awaited);
  // Task `changing` changes the signal, for which `waiting` waits. A signal is any address, of a word for
  // example.
  void AddChange(Point changing, const void* signal);
  void AddAwait(Point waiting, const void* signal);

  // The host learned that the tasks up to `point` are done. Calls `known` with every point that it knows now
  // and did not know before, under the lock.
  template <class Known>
  void Learn(Point point, Known&& known) {
    auto call = [](void* context, Point learned) { (*static_cast<Known*>(context))(learned); };
    Learn(point, call, &known);
  }

  bool Knows(Point point);

  // Whether `early` is ordered before `late`, which the host does not know. True also where it may be.
  bool Before(Point early, Point late);

  void BeforeFork() { lock_.lock(); }
  void AfterForkInParent() { lock_.unlock(); }
  void AfterForkInChild() { lock_.Reset(); }

 private:
  struct Wait {
    uint64_t at = 0;
    Point awaited{};  // unless there is a signal
    const void* signal = nullptr;
    Wait* next = nullptr;
  };
  struct PerStream {
    Stream stream = nullptr;
    uint64_t known = 0;
    Wait* first = nullptr;  // that the host does not know, by `at`
    Wait* last = nullptr;
    size_t waits = 0;
    // Of the search that is running.
    uint64_t search = 0;
    uint64_t reached = 0;
    bool listed = false;
    PerStream* next = nullptr;
  };
  struct Change {
    Point point{};
    Change* next = nullptr;
  };
  struct PerSignal {
    Change* first;  // the latest one of each stream
  };
  class Search;

  // Beyond so many waits of one stream, of which nobody learned, new ones count as if they had come early.
  static constexpr size_t kMostWaits = 1 << 16;

  using Callback = void (*)(void* context, Point learned);
  void Learn(Point point, Callback known, void* context);
  PerStream* Find(Stream stream);
  PerStream* At(Stream stream);
  void Append(PerStream& stream, const Wait& wait);

  os::SharedLock lock_;
  uint64_t searches_ = 0;
  os::OwnMap<PerStream*> streams_;
  os::OwnMap<PerSignal> signals_;
  os::OwnPool<PerStream> stream_pool_;
  os::OwnPool<Wait> waits_;
  os::OwnPool<Change> changes_;
};

}  // namespace belay::check
