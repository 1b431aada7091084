// When the effect of a submission lands (option `schedule`): one small object that the engine asks.
//
// Every answer is a legal execution of the ordering model (SPEC 20 §1); policies only choose among those.
// Threading: immutable.
#pragma once

#include <cstdint>

namespace belay::engine {

class Policy {
 public:
  // Who runs a stream that has become runnable.
  enum class Delivery : uint8_t {
    kPool,    // a worker, or a host thread that waits
    kCaller,  // the thread whose call made it runnable, before that call returns
    kWaiter,  // a host thread that waits; before that, only what the program can notice without a call
  };

  // Lands at any legal time; small work on an idle stream inside the call, because waking a worker costs
  // more.
  static constexpr Policy Async() { return Policy(Delivery::kPool, kSmall); }
  // Lands inside the submitting call whenever order allows.
  static constexpr Policy Eager() { return Policy(Delivery::kCaller, ~uint64_t{0}); }
  // Lands at the last moment that no correct program can notice.
  static constexpr Policy OnWait() { return Policy(Delivery::kWaiter, 0); }

  constexpr Delivery delivery() const { return delivery_; }
  constexpr bool MayRunInline(uint64_t bytes) const { return bytes < inline_below_; }

  // A copy of this size takes about as long as waking a thread.
  static constexpr uint64_t kSmall = (256 << 10) + 1;

 private:
  constexpr Policy(Delivery delivery, uint64_t inline_below)
      : delivery_(delivery), inline_below_(inline_below) {}

  Delivery delivery_;
  uint64_t inline_below_;
};

}  // namespace belay::engine
