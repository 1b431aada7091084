// A set of numbers as sorted half-open intervals that neither overlap nor touch: {[0,4), [8,9)}.
//
// Threading: none; the owner locks. Cost: logarithmic in the number of intervals, and each interval that an
// Add joins is taken out once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace belay {

class IntervalSet {
 public:
  // [lo, hi); nothing when it is empty.
  void Add(uint64_t lo, uint64_t hi) {
    if (lo >= hi) return;
    auto next = starts_.upper_bound(lo);
    if (next != starts_.begin()) {
      if (auto before = std::prev(next); before->second >= lo) {
        if (before->second >= hi) return;
        lo = before->first;
        next = before;
      }
    }
    while (next != starts_.end() && next->first <= hi) {
      hi = std::max(hi, next->second);
      next = starts_.erase(next);
    }
    starts_.emplace_hint(next, lo, hi);
  }

  // Whether all of [lo, hi) is in it; an empty interval is.
  bool Holds(uint64_t lo, uint64_t hi) const {
    if (lo >= hi) return true;
    auto next = starts_.upper_bound(lo);
    return next != starts_.begin() && std::prev(next)->second >= hi;
  }

  // Calls visit(from, to, inside) for the pieces of [lo, hi), in order: the longest stretches that are all
  // inside or all outside.
  template <class Visitor>
  void ForEachPiece(uint64_t lo, uint64_t hi, Visitor&& visit) const {
    auto next = starts_.upper_bound(lo);
    if (next != starts_.begin() && std::prev(next)->second > lo) --next;
    while (lo < hi) {
      if (next == starts_.end() || next->first >= hi) {
        visit(lo, hi, false);
        return;
      }
      if (lo < next->first) visit(lo, next->first, false);
      uint64_t from = std::max(lo, next->first);
      lo = std::min(hi, next->second);
      visit(from, lo, true);
      ++next;
    }
  }

  bool empty() const { return starts_.empty(); }
  size_t intervals() const { return starts_.size(); }

 private:
  std::map<uint64_t, uint64_t> starts_;  // first -> one past last
};

}  // namespace belay
