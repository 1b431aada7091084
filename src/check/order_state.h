// What the order checker keeps of streams, and of tasks that it did not look at yet. Threading: under its
// lock.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "check/order_checker.h"

namespace belay::check {

constexpr uint64_t kNoSignal = ~uint64_t{0};

// What is kept of a task until all that is ordered before it was looked at.
struct OrderTask {
  engine::Op op;
  const engine::Stream* stream = nullptr;
  int32_t device = -1;  // logical
  uint64_t sequence = 0;
  uint64_t epoch = 0;                   // of the host when it was submitted
  uint64_t signal = kNoSignal;          // Signal::serial of what it changes or waits for
  std::shared_ptr<OrderRecord> record;  // of a record or a wait
  OrderActor actor;
  OrderChecker::Touches touches;
};

// One generation of an event.
struct OrderRecord {
  OrderStream* stream = nullptr;
  uint64_t sequence = 0;
  bool passed = false;
  OrderClock clock;  // of everything before it, its own stream's tasks included
};

struct OrderStream {
  OrderClock clock;  // of what is ordered before its next task
  // What it joined, and before which task: for who asks about an earlier one. Without what the host knows.
  struct Joined {
    OrderPoint point;
    uint64_t since;
  };
  std::vector<Joined> joined;
  std::deque<OrderTask> tasks;  // not looked at yet; the first one waits
  bool waits = false;           // in OrderChecker::waiting_
  uint64_t returned = 0;        // the last function of the program that ended, and when
  uint64_t returned_epoch = 0;
  bool granted = false;   // what the first of `tasks` waits for has happened, and it joined that
  uint64_t ran = 0;       // its tasks up to here ended before they were looked at
  bool searched = false;  // being forced, or looked through
  OrderSteps known, known_by_the_way;
};

}  // namespace belay::check
