#include "engine/signal.h"

namespace belay::engine {

std::atomic<uint64_t> Signal::made_{0};

bool Signal::Holds(Condition condition, uint32_t now, uint32_t value) {
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

uint32_t Signal::Applied(Change change, uint32_t now, uint32_t value) {
  switch (change) {
    case Change::kSet:
      return value;
    case Change::kAdd:
      return now + value;  // SPEC 20 §6: wraps
    case Change::kOr:
      return now | value;
    case Change::kAnd:
      return now & value;
  }
  return now;
}

}  // namespace belay::engine
