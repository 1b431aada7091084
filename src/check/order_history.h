// The accesses of memory that a later one may still have no order with, by block.
//
// Guarantees: of the accesses that conflict with a new one and have no order with it, the latest is always
// there, but in a block with more than kMost accesses that nobody synchronised. Threading: guarded by the
// lock of the checker. Cost: a look-up and a few comparisons for each access that is kept in the block.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/site.h"
#include "check/order_box.h"

namespace belay::check {

struct OrderStream;

// Who accesses: a task, or the host in a call.
struct OrderActor {
  const OrderStream* stream = nullptr;  // null: the host
  uint64_t sequence = 0;                // of the task
  uint64_t epoch = 0;                   // of the host
  const char* api = nullptr;
  uint32_t thread = 0;
  uint32_t task = 0;
  int32_t device = -1;  // user id
  int32_t stream_id = -1;
  Site site;
};

struct OrderAccess {
  OrderActor actor;
  OrderBox box;  // in bytes of the block; in addresses where there is none
  bool write = false;
  uint64_t stamp = 0;  // grows with each access
};

class OrderHistory {
 public:
  static constexpr size_t kMost = 256;

  std::vector<OrderAccess>& Of(const void* block) { return blocks_[block]; }
  void Forget(const void* block) { blocks_.erase(block); }

  // Drops the accesses that `dead` says nobody needs, now and then: each is looked at a constant number of
  // times on average.
  template <class Dead>
  void Sweep(Dead&& dead) {
    if (++since_sweep_ < next_sweep_) return;
    since_sweep_ = 0;
    size_t kept = 0;
    for (auto block = blocks_.begin(); block != blocks_.end();) {
      std::erase_if(block->second, dead);
      kept += block->second.size();
      block = block->second.empty() ? blocks_.erase(block) : std::next(block);
    }
    next_sweep_ = 1024 + 2 * kept;
  }

 private:
  std::unordered_map<const void*, std::vector<OrderAccess>> blocks_;
  size_t since_sweep_ = 0, next_sweep_ = 1024;
};

}  // namespace belay::check
