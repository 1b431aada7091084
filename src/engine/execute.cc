// What a task does when its turn has come.
#include <cstdlib>

#include "engine/copy_kernels.h"
#include "engine/engine.h"

namespace belay::engine {
namespace {
constexpr Status kPeerClosed{507899};     // SPEC 32 §2.3: not started when the direction was closed
constexpr Status kHostRamUsedUp{207018};  // SPEC 31 §0.5
}  // namespace

Status Engine::Execute(const Op& op) {
  switch (op.kind) {
    case OpKind::kCopy:
      return ExecuteCopy(op);
    case OpKind::kFill:
      return ExecuteFill(op);
    case OpKind::kRecord:
      Complete(*op.record);
      return Status();
    case OpKind::kWait:
      op.record->event()->pending_waits.fetch_sub(1, std::memory_order_release);
      return Status();
  }
  return Status();
}

Status Engine::ExecuteCopy(const Op& op) {
  const CopyShape& shape = op.copy.shape;
  for (OpSide side : {op.src, op.dst}) {
    if (side.owner < 0 || side.owner == op.executor || config_.peer_lenient) continue;
    if (!memory_.books().PeerEnabled(op.executor, side.owner)) return kPeerClosed;
  }
  if (!PrepareTarget(op.dst, op.copy.dst_block, shape.dst, shape.DstExtent(), !shape.linear())) return kHostRamUsedUp;
  PrepareSource(op.src, op.copy.src_block, shape.src, shape.SrcExtent());
  CopyBytes(shape);
  return Status();
}

Status Engine::ExecuteFill(const Op& op) {
  if (!PrepareTarget(op.dst, op.fill.block, op.fill.dst, op.fill.bytes, false)) return kHostRamUsedUp;
  FillBytes(op.fill.dst, op.fill.value, op.fill.bytes);
  return Status();
}

bool Engine::PrepareTarget(OpSide side, memory::Allocation* block, const uint8_t* dst, uint64_t extent, bool gaps) {
  if (side.owner < 0) return true;
  memory::DeviceMemory& memory = *memory_.Find(side.owner);
  return memory.PrepareWrite(*block, static_cast<uint64_t>(dst - memory.EngineStart(*block)), extent, gaps);
}

void Engine::PrepareSource(OpSide side, memory::Allocation* block, const uint8_t* src, uint64_t extent) {
  if (side.owner < 0) return;
  memory::DeviceMemory& memory = *memory_.Find(side.owner);
  memory.PrepareRead(*block, static_cast<uint64_t>(src - memory.EngineStart(*block)), extent);
}

void Engine::Unpin(OpSide side, memory::Allocation* block) {
  if (block == nullptr) return;
  if (side.owner >= 0) {
    memory_.Find(side.owner)->Unpin(block);
  } else {
    memory_.host().Unpin(block);
  }
}

// Gives back what a task held.
void Engine::Release(const Op& op) {
  switch (op.kind) {
    case OpKind::kCopy:
      Unpin(op.dst, op.copy.dst_block);
      Unpin(op.src, op.copy.src_block);
      if (op.owns_source) free(const_cast<uint8_t*>(op.copy.shape.src));
      break;
    case OpKind::kFill:
      Unpin(op.dst, op.fill.block);
      break;
    case OpKind::kRecord:
    case OpKind::kWait:
      op.record->Drop();
      break;
  }
}

Status Engine::RunNow(const Op& op) {
  Status status = Execute(op);
  // A call has its own word for it (SPEC 31 §0.5).
  return status == kHostRamUsedUp ? Status(207001) : status;
}

}  // namespace belay::engine
