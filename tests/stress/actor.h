#pragma once
// One host thread that does random things to the world.
//
// Threading: an Actor belongs to one thread; its journal is read by others.

#include <belay/control.h>

#include <deque>
#include <random>

#include "world.h"

namespace stress {

class Actor {
 public:
  Actor(World& world, Journal& journal, uint64_t seed, bool may_break)
      : world_(world), journal_(journal), random_(seed), may_break_(may_break) {}

  void Run(int steps);

 private:
  struct Step {
    int weight;
    void (Actor::*act)();
  };
  static const Step kSteps[];
  // What a body is given; lives as long as the actor, which outlives the round.
  struct Body {
    World* world;
    aclrtContext context;
    aclrtStream stream;
    uint64_t kind;
  };
  static void RunBody(void* body);

  uint64_t Below(uint64_t end) { return random_() % end; }
  bool Chance(uint64_t percent) { return Below(100) < percent; }
  Device& device() { return world_.devices[static_cast<size_t>(context_->device)]; }
  // A stream of the current context that nobody destroys meanwhile; now and then the default stream.
  class Use;
  template <class Act>
  void WithStream(Act act);
  template <class Act>
  void WithEvent(Act act);
  template <class Act>
  void WithNotify(Act act);

  int Limit();
  void Copy();
  void LargeCopy();
  void FreeEarly();
  void Record();
  void Wait();
  void Reset();
  void AskEvent();
  void SyncEvent();
  void Notify();
  void AwaitNotify();
  void Value();
  void CopyNow();
  void HostFunction();
  void Callback();
  void Ask();
  void Sync();
  void SyncDevice();
  void Hold();
  void Land();
  void FailNext();
  void Abort();
  void Replace();
  void ReplaceEvent();
  void AbortDevice();
  void Break();

  World& world_;
  Journal& journal_;
  std::mt19937_64 random_;
  const bool may_break_;
  Context* context_ = nullptr;
  std::deque<Body> bodies_;
};

}  // namespace stress
