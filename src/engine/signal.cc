#include "engine/signal.h"

namespace belay::engine {

std::atomic<uint64_t> Signal::made_{0};

bool Signal::Holds(Condition condition, uint32_t value) const {
  uint32_t now = this->value();
  switch (condition) {
    case Condition::kLess:
      return now < value;
    case Condition::kEqual:
      return now == value;
    case Condition::kGreater:
      return now > value;
    case Condition::kGreaterOrEqual:
      return now >= value;
    case Condition::kMask:
      return (now & value) == value;
  }
  return false;
}

void Signal::Apply(Change change, uint32_t value) {
  uint32_t now = value_.load(std::memory_order_relaxed);
  switch (change) {
    case Change::kSet:
      now = value;
      break;
    case Change::kAdd:
      now += value;  // SPEC 20 §6: wraps
      break;
    case Change::kOr:
      now |= value;
      break;
    case Change::kAnd:
      now &= value;
      break;
  }
  value_.store(now, std::memory_order_release);
}

}  // namespace belay::engine
