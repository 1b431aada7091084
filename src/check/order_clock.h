// What is known to be complete, and by whom: streams, and the host as one actor (docs/design/order.md).
//
// Guarantees: exact as long as nobody forgets a step that a late task still asks for. Threading: guarded by
// the lock of the checker. Cost: a question is a few comparisons; streams that the host knows cost nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace belay::check {

struct OrderStream;

// Up to task `sequence` of a stream.
struct OrderPoint {
  OrderStream* stream;
  uint64_t sequence;
};

// The host's knowledge of one stream as it grew: at `epoch` it knew the tasks up to `sequence`.
class OrderSteps {
 public:
  void Add(uint64_t sequence, uint64_t epoch);
  bool Known(uint64_t sequence, uint64_t epoch) const;
  // Nobody asks for an earlier moment than now any more.
  void KeepLast();

 private:
  struct Step {
    uint64_t sequence;
    uint64_t epoch;
  };
  std::vector<Step> steps_;  // both grow
};

// Everything ordered before a point in a stream or in a signal, but for what the stream itself did: what the
// host knew at `epoch`, and these tasks.
struct OrderClock {
  uint64_t epoch = 0;
  std::vector<OrderPoint> points;

  void Join(const OrderClock& other);
  void Join(OrderPoint point);
  bool Has(const OrderStream* stream, uint64_t sequence) const {
    for (const OrderPoint& known : points) {
      if (known.stream == stream && known.sequence >= sequence) return true;
    }
    return false;
  }
};

enum class Ordered : uint8_t { kNo, kByTheWay, kYes };

}  // namespace belay::check
