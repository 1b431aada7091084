// A number that streams change and wait for: the bit of a flag event, a notify, a count notify (SPEC 20
// §§4.2, 5, 6).
//
// Guarantees: a stream that waits is asked again after every change, the one that came first before the
// others. Threading: the number may be read by anyone; changes and the waiter list belong to the engine's
// edge lock. Lifetime: counted references: the handle, every queued task.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/site.h"

namespace belay::engine {

class Stream;

class Signal {
 public:
  enum class Change : uint8_t { kSet, kAdd, kOr, kAnd };
  enum class Condition : uint8_t { kLess, kEqual, kGreater, kGreaterOrEqual, kMask };

  Signal() : serial(made_.fetch_add(1, std::memory_order_relaxed)) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  void AddReference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Drop() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // What a change makes of a number, and whether a number is as a wait wants it.
  static uint32_t Applied(Change change, uint32_t now, uint32_t value);
  static bool Holds(Condition condition, uint32_t now, uint32_t value);

  uint32_t value() const { return value_.load(std::memory_order_acquire); }
  bool Holds(Condition condition, uint32_t value) const { return Holds(condition, this->value(), value); }

  // No other signal of the process has it.
  const uint64_t serial;
  // Queued waits that have not passed yet.
  std::atomic<uint32_t> pending_waits{0};
  // Whether the handle is gone.
  std::atomic<bool> orphan{false};

 private:
  friend class Engine;
  ~Signal() = default;

  void Apply(Change change, uint32_t value) {
    value_.store(Applied(change, value_.load(std::memory_order_relaxed), value), std::memory_order_release);
  }

  static std::atomic<uint64_t> made_;

  std::atomic<uint32_t> value_{0};
  std::atomic<uint32_t> references_{1};
  Stream* first_waiter_ = nullptr;  // linked by Stream::next_waiter_, oldest first; edge lock
  Stream* last_waiter_ = nullptr;
  const char* last_api_ = nullptr;  // the latest change; edge lock
  uint32_t last_thread_ = 0;
  Site last_site_;
};

}  // namespace belay::engine
