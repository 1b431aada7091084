#include "check/order_clock.h"

#include <algorithm>

namespace belay::check {

void OrderSteps::Add(uint64_t sequence, uint64_t epoch) {
  if (!steps_.empty() && steps_.back().sequence >= sequence) return;
  steps_.push_back({sequence, epoch});
}

bool OrderSteps::Known(uint64_t sequence, uint64_t epoch) const {
  auto step = std::lower_bound(steps_.begin(), steps_.end(), sequence,
                               [](const Step& s, uint64_t wanted) { return s.sequence < wanted; });
  return step != steps_.end() && step->epoch <= epoch;
}

void OrderSteps::KeepLast() {
  if (steps_.size() > 1) steps_.erase(steps_.begin(), steps_.end() - 1);
}

void OrderClock::Join(const OrderClock& other) {
  epoch = std::max(epoch, other.epoch);
  for (const OrderPoint& point : other.points) Join(point);
}

void OrderClock::Join(OrderPoint point) {
  for (OrderPoint& known : points) {
    if (known.stream != point.stream) continue;
    known.sequence = std::max(known.sequence, point.sequence);
    return;
  }
  points.push_back(point);
}

}  // namespace belay::check
