// The order checker's comparison of accesses: what a task or call touches, what was written before, which of
// two accesses comes first.
#include <algorithm>

#include "check/order_state.h"
#include "memory/device_memory.h"
#include "memory/host_memory.h"

namespace belay::check {

using engine::Op;
using engine::OpKind;

namespace {

// Where the bytes lie in their block; as an address where the runtime knows no block.
uint64_t PositionOf(const engine::OpSide& side, const uint8_t* at) {
  if (side.memory != nullptr) return static_cast<uint64_t>(at - side.memory->EngineStart(*side.block));
  return reinterpret_cast<uint64_t>(at);
}

}  // namespace

// --- Accesses

void OrderChecker::Touches::Drop(const memory::Allocation& block) {
  for (int i = 0; i < count;) {
    if (touch[i].block == &block) {
      touch[i] = touch[--count];
    } else {
      ++i;
    }
  }
}

OrderChecker::Touches OrderChecker::TouchesOf(const engine::CopyTask& copy, bool owns_source) {
  const engine::CopyShape& shape = copy.shape;
  Touches touches;
  if (!owns_source) {
    touches.touch[touches.count++] = {
        copy.src.memory, copy.src.block,
        OrderBox::Rows(PositionOf(copy.src, shape.src), shape.width, shape.src_pitch, shape.height), false};
  }
  touches.touch[touches.count++] = {
      copy.dst.memory, copy.dst.block,
      OrderBox::Rows(PositionOf(copy.dst, shape.dst), shape.width, shape.dst_pitch, shape.height), true};
  return touches;
}

OrderChecker::Touches OrderChecker::TouchesOf(const engine::FillTask& fill) {
  Touches touches;
  touches.touch[touches.count++] = {fill.dst.memory, fill.dst.block,
                                    OrderBox::Linear(PositionOf(fill.dst, fill.at), fill.bytes), true};
  return touches;
}

// The target is read as well: that shows only where nobody wrote it.
OrderChecker::Touches OrderChecker::TouchesOf(const engine::ReduceTask& reduce) {
  const auto touch = [&](const engine::OpSide& side, const uint8_t* at, bool write) {
    return Touch{side.memory, side.block, OrderBox::Linear(PositionOf(side, at), reduce.bytes), write};
  };
  Touches touches;
  touches.touch[touches.count++] = touch(reduce.src_side, reduce.src, false);
  touches.touch[touches.count++] = touch(reduce.dst_side, reduce.dst, false);
  touches.touch[touches.count++] = touch(reduce.dst_side, reduce.dst, true);
  return touches;
}

OrderChecker::Touches OrderChecker::TouchesOf(const Op& op) {
  switch (op.kind) {
    case OpKind::kCopy:
      return TouchesOf(op.copy, op.owns_source);
    case OpKind::kFill:
      return TouchesOf(op.fill);
    case OpKind::kReduce:
      return TouchesOf(op.reduce);
    default:
      // A word that streams write and wait for is made for being touched without other order.
      return {};
  }
}

void OrderChecker::AccessAtOnce(OrderActor actor, const Touches& touches) {
  MutexLock lock(mutex_);
  CountEvent();
  actor.epoch = ++now_;  // before what is submitted from now on, and only that
  Access(actor, nullptr, touches);
}

void OrderChecker::HostCopies(const engine::CopyTask& copy, const OrderActor& actor) {
  AccessAtOnce(actor, TouchesOf(copy, false));
}

void OrderChecker::HostReads(const engine::CopyTask& copy, const OrderActor& actor) {
  Touches touches = TouchesOf(copy, false);
  touches.count = 1;  // the source comes first
  AccessAtOnce(actor, touches);
}

void OrderChecker::HostFills(const engine::FillTask& fill, const OrderActor& actor) {
  AccessAtOnce(actor, TouchesOf(fill));
}

void OrderChecker::Forget(const memory::Allocation& block) {
  MutexLock lock(mutex_);
  history_.Forget(&block);
  written_.erase(&block);
  words_.erase(words_.lower_bound({&block, 0}), words_.upper_bound({&block, ~uint64_t{0}}));
  // A task that still waits keeps the bytes of a block that is freed; nothing else reaches them.
  for (OrderStream* stream : waiting_) {
    for (OrderTask& task : stream->tasks) {
      task.touches.Drop(block);
      const bool of_word = task.op.kind == OpKind::kValueWrite || task.op.kind == OpKind::kValueWait;
      if (of_word && task.op.value.side.block == &block) task.op.value.side = {};
    }
  }
}

// --- What was written

OrderChecker::Word OrderChecker::WordOf(const Op& op) {
  return {op.value.side.block, PositionOf(op.value.side, op.value.at)};
}

// The bytes were written otherwise: what the words hold is not known any more.
void OrderChecker::ForgetWords(const memory::Allocation* block, const OrderBox& box) {
  if (words_.empty()) return;
  constexpr uint64_t kReach = sizeof(uint64_t) - 1;
  auto word = words_.lower_bound({block, box.begin > kReach ? box.begin - kReach : 0});
  const auto end = words_.lower_bound({block, box.end()});
  while (word != end) {
    const bool written = Overlap(OrderBox::Linear(word->first.second, sizeof(uint64_t)), box);
    word = written ? words_.erase(word) : std::next(word);
  }
}

void OrderChecker::Write(const Touch& touch) {
  // Beyond this a block counts as written where rows leave gaps: memory and time for the gaps of a plane with
  // a million rows are worth more.
  constexpr size_t kMostIntervals = size_t{1} << 16;
  IntervalSet& written = written_[touch.block];
  if (touch.box.rows + written.intervals() > kMostIntervals) {
    written.Add(touch.box.begin, touch.box.end());
    return;
  }
  for (uint64_t row = 0; row < touch.box.rows; ++row) {
    const uint64_t begin = touch.box.begin + row * touch.box.pitch;
    written.Add(begin, begin + touch.box.width);
  }
}

void OrderChecker::Read(const OrderActor& actor, const Touch& touch) {
  const IntervalSet& written = written_[touch.block];
  if (written.Holds(touch.box.begin, touch.box.end())) return;
  Verdict verdict;
  verdict.id = FindingId::kUninitializedRead;
  for (uint64_t row = 0; row < touch.box.rows; ++row) {
    const uint64_t begin = touch.box.begin + row * touch.box.pitch;
    written.ForEachPiece(begin, begin + touch.box.width, [&verdict](uint64_t from, uint64_t to, bool inside) {
      if (inside) return;
      if (verdict.unwritten == 0) verdict.first_unwritten = from;
      verdict.unwritten += to - from;
    });
  }
  if (verdict.unwritten == 0) return;
  verdict.second = {actor, touch.box, false, stamps_};
  verdict.memory = touch.memory;
  verdict.block = touch.block;
  say_(verdict);
}

// --- Order

// Whether `first` is ordered before `second`, an access of `stream`, or of the host.
Ordered OrderChecker::Order(const OrderAccess& first, const OrderActor& second,
                            const OrderStream* stream) const {
  const OrderStream* other = first.actor.stream;
  const uint64_t epoch = stream != nullptr ? stream->clock.epoch : second.epoch;
  if (other == nullptr) return stream == nullptr || first.actor.epoch <= epoch ? Ordered::kYes : Ordered::kNo;
  if (other == stream) return Ordered::kYes;
  if (stream != nullptr && stream->clock.Has(other, first.actor.sequence)) return Ordered::kYes;
  if (other->known.Known(first.actor.sequence, epoch)) return Ordered::kYes;
  return other->known_by_the_way.Known(first.actor.sequence, epoch) ? Ordered::kByTheWay : Ordered::kNo;
}

// Whether everything that is looked at from now on is ordered after it.
bool OrderChecker::Dead(const OrderAccess& access) const {
  if (!waiting_.empty()) return false;
  const OrderStream* stream = access.actor.stream;
  return stream == nullptr || stream->known.Known(access.actor.sequence, now_);
}

void OrderChecker::Access(const OrderActor& actor, const OrderStream* stream, const Touches& touches) {
  Verdict verdict;
  Ordered worst = Ordered::kYes;
  const uint64_t stamp = ++stamps_;
  for (int i = 0; i < touches.count; ++i) {
    const Touch& touch = touches.touch[i];
    if (touch.box.empty()) continue;
    if (touch.memory != nullptr && !touch.write) Read(actor, touch);
    if (touch.memory != nullptr && touch.write) Write(touch);
    if (touch.write) ForgetWords(touch.block, touch.box);
    OrderAccess access{actor, touch.box, touch.write, stamp};
    std::vector<OrderAccess>& earlier = history_.Of(touch.block);
    std::erase_if(earlier, [&](const OrderAccess& first) BELAY_REQUIRES(mutex_) {
      if (first.stamp == stamp) return false;
      if (Dead(first)) return true;
      if (!first.write && !touch.write) {
        return Covers(touch.box, first.box) && Order(first, actor, stream) == Ordered::kYes;
      }
      if (!Overlap(first.box, touch.box)) return false;
      const Ordered order = Order(first, actor, stream);
      if (order == Ordered::kYes) return touch.write && Covers(touch.box, first.box);
      if (order < worst || (order == worst && first.stamp > verdict.first.stamp)) {
        worst = order;
        verdict.id = order == Ordered::kNo ? FindingId::kMissingOrder : FindingId::kImplicitOrder;
        verdict.first = first;
        verdict.second = access;
        verdict.memory = touch.memory;
        verdict.block = touch.block;
      }
      return false;
    });
    if (stream == nullptr && waiting_.empty()) continue;  // everything later is ordered after it
    if (earlier.size() >= OrderHistory::kMost) earlier.erase(earlier.begin());
    earlier.push_back(access);
  }
  verdict.event = events_;
  if (worst != Ordered::kYes) say_(verdict);
}

}  // namespace belay::check
