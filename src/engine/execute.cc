// What a task does when its turn has come, and what it gives back.
#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "engine/engine.h"
#include "engine/planted_fault.h"

namespace belay::engine {
namespace {
constexpr Status kPeerClosed{507899};     // SPEC 32 §2.3: not started when the direction was closed
constexpr Status kHostRamUsedUp{207018};  // SPEC 31 §0.5
}  // namespace

Status Engine::Execute(const Op& op) {
  switch (op.kind) {
    case OpKind::kCopy: {
      Status status = ExecuteCopy(op.copy);
      WordsChanged();
      return status;
    }
    case OpKind::kFill: {
      FillTask fill = op.fill;
      if (BELAY_FAULT(8)) --fill.bytes;
      bool done = FillNow(fill);
      WordsChanged();
      return done ? Status() : kHostRamUsedUp;
    }
    case OpKind::kReduce: {
      Status status = ExecuteReduce(op.reduce);
      WordsChanged();
      return status;
    }
    case OpKind::kRecord: {
      EventRecord& record = *op.record;
      if (record.stream()->failed()) record.failed_.store(true, std::memory_order_relaxed);
      Complete(record);
      if (Signal* bit = record.event()->bit(); bit != nullptr) Change(*bit, Signal::Change::kSet, 1, &op);
      return Status();
    }
    case OpKind::kReset:
      op.reset.event->TakeBack(op.reset.record);
      if (Signal* bit = op.reset.event->bit(); bit != nullptr && !BELAY_FAULT(12))
        Change(*bit, Signal::Change::kSet, 0, &op);
      return Status();
    case OpKind::kSignal:
      Change(*op.signal.signal, op.signal.change, op.signal.value, &op);
      return Status();
    case OpKind::kValueWrite:
      return ExecuteValueWrite(op.value);
    case OpKind::kWait:
    case OpKind::kAwait:
    case OpKind::kValueWait:
    case OpKind::kPrefetch:
    case OpKind::kHostFunc:
    case OpKind::kCallback:
      return Status();
  }
  return Status();
}

// SPEC 32 §2.3: a direction is looked at again when the task runs.
bool Engine::Reaches(int executor, const OpSide& one, const OpSide& other) const {
  for (const OpSide& side : {one, other}) {
    if (side.memory == nullptr || side.memory->device() == executor || config_.peer_lenient) continue;
    if (!memory_.books().PeerEnabled(executor, side.memory->device())) return false;
  }
  return true;
}

// Through buffers of the host, so that each way of a copy is one of this too.
Status Engine::ExecuteReduce(const ReduceTask& reduce) {
  if (!Reaches(reduce.executor, reduce.src_side, reduce.dst_side)) return kPeerClosed;
  if (!PrepareWrite(reduce.dst_side, reduce.dst, reduce.bytes, true)) return kHostRamUsedUp;
  constexpr size_t kPart = 8 << 10;
  alignas(64) uint8_t ours[kPart], theirs[kPart];
  for (uint64_t at = 0; at < reduce.bytes; at += kPart) {
    const size_t bytes = std::min<uint64_t>(kPart, reduce.bytes - at);
    const bool read =
        CopyNow({CopyShape::Linear(ours, reduce.dst + at, bytes), {}, reduce.dst_side, reduce.executor}) &&
        CopyNow({CopyShape::Linear(theirs, reduce.src + at, bytes), {}, reduce.src_side, reduce.executor});
    if (!read) return kHostRamUsedUp;
    Reduce(reduce.kind, reduce.type, ours, theirs, bytes);
    if (!CopyNow({CopyShape::Linear(reduce.dst + at, ours, bytes), reduce.dst_side, {}, reduce.executor}))
      return kHostRamUsedUp;
  }
  return Status();
}

Status Engine::ExecuteCopy(const CopyTask& copy) {
  if (!Reaches(copy.executor, copy.src, copy.dst)) return kPeerClosed;
  CopyTask task = copy;
  if (BELAY_FAULT(7) && task.shape.height > 1) --task.shape.height;
  return CopyNow(task) ? Status() : kHostRamUsedUp;
}

// SPEC 34 §5: a store of 64 bits that publishes what came before it.
Status Engine::ExecuteValueWrite(const ValueTask& value) {
  if (!PrepareWrite(value.side, value.at, sizeof(uint64_t), false)) return kHostRamUsedUp;
  auto* word = reinterpret_cast<uint64_t*>(value.at);
  if (guard_ != nullptr && value.side.memory == nullptr) [[unlikely]] {
    StoreGuarded(*guard_, word, value.value);
  } else {
    std::atomic_ref<uint64_t>(*word).store(value.value, std::memory_order_release);
  }
  WordsChanged();
  return Status();
}

// A copy may write the word at this moment: the bytes are the program's business, and the next change looks
// again.
#if defined(__clang__) || defined(__GNUC__)
__attribute__((no_sanitize("thread")))
#endif
bool Engine::WordHolds(const ValueTask& value) {
  memory::DeviceMemory* memory = value.side.memory;
  if (memory != nullptr) memory->PrepareRead(*value.side.block, At(value.side, value.at), sizeof(uint64_t));
  auto* at = reinterpret_cast<uint64_t*>(value.at);
  uint64_t word = guard_ != nullptr && memory == nullptr
                      ? LoadGuarded(*guard_, at)
                      : std::atomic_ref<uint64_t>(*at).load(std::memory_order_acquire);
  if (memory != nullptr && memory->poisons())
    word = memory->Poisoned(*value.side.block, At(value.side, value.at), word);
  return Holds(value.condition, word, value.value);
}

// Keeps the blocks of a task from being given away while it is queued.
void Engine::Pin(const Op& op) {
  auto pin = [](const OpSide& side) {
    if (side.block != nullptr) memory::SlabHeap::Pin(side.block);
  };
  switch (op.kind) {
    case OpKind::kCopy:
      pin(op.copy.dst);
      pin(op.copy.src);
      break;
    case OpKind::kFill:
      pin(op.fill.dst);
      break;
    case OpKind::kReduce:
      pin(op.reduce.dst_side);
      pin(op.reduce.src_side);
      break;
    case OpKind::kValueWrite:
    case OpKind::kValueWait:
      pin(op.value.side);
      break;
    case OpKind::kPrefetch:
      pin(op.prefetch.side);
      break;
    default:
      break;
  }
}

void Engine::Unpin(const OpSide& side) {
  if (side.block == nullptr) return;
  if (side.memory != nullptr) {
    side.memory->Unpin(side.block);
  } else {
    memory_.host().Unpin(side.block);
  }
}

// Gives back what a task held, after it took effect or because it never will.
void Engine::Release(const Op& op, Fate fate) {
  switch (op.kind) {
    case OpKind::kCopy:
      Unpin(op.copy.dst);
      Unpin(op.copy.src);
      if (op.owns_source) free(const_cast<uint8_t*>(op.copy.shape.src));
      break;
    case OpKind::kFill:
      Unpin(op.fill.dst);
      break;
    case OpKind::kReduce:
      Unpin(op.reduce.dst_side);
      Unpin(op.reduce.src_side);
      break;
    case OpKind::kRecord:
      // A record that failed (SPEC 21 §6.2, injected) or was dropped never completes.
      if (fate != Fate::kDone || op.code != 0) Drop(*op.record, fate);
      if (op.record->id_ != IdPool::kNone) op.record->ReleaseId();
      op.record->Drop();
      break;
    case OpKind::kWait:
      if (op.wait.record == nullptr) break;
      if (op.wait.holds_id) op.wait.record->ReleaseId();
      op.wait.record->event()->pending_waits.fetch_sub(1, std::memory_order_release);
      op.wait.record->Drop();
      break;
    case OpKind::kReset:
      if (op.reset.record != nullptr) op.reset.record->Drop();
      op.reset.event->Drop();
      break;
    case OpKind::kSignal:
      op.signal.signal->Drop();
      break;
    case OpKind::kAwait:
      op.await.signal->pending_waits.fetch_sub(1, std::memory_order_release);
      op.await.signal->Drop();
      break;
    case OpKind::kValueWait:
      queued_word_waits_.fetch_sub(1, std::memory_order_relaxed);
      Unpin(op.value.side);
      break;
    case OpKind::kValueWrite:
      Unpin(op.value.side);
      break;
    case OpKind::kPrefetch:
      Unpin(op.prefetch.side);
      break;
    case OpKind::kHostFunc:
    case OpKind::kCallback:
      break;
  }
}

}  // namespace belay::engine
