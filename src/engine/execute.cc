// What a task does when its turn has come.
#include <cstdlib>

#include "engine/engine.h"

namespace belay::engine {
namespace {
constexpr Status kPeerClosed{507899};     // SPEC 32 §2.3: not started when the direction was closed
constexpr Status kHostRamUsedUp{207018};  // SPEC 31 §0.5
}  // namespace

Status Engine::Execute(const Op& op) {
  switch (op.kind) {
    case OpKind::kCopy:
      return ExecuteCopy(op.copy);
    case OpKind::kFill:
      return FillNow(op.fill) ? Status() : kHostRamUsedUp;
    case OpKind::kRecord:
      Complete(*op.record);
      return Status();
    case OpKind::kWait:
      op.record->event()->pending_waits.fetch_sub(1, std::memory_order_release);
      return Status();
  }
  return Status();
}

Status Engine::ExecuteCopy(const CopyTask& copy) {
  for (const OpSide& side : {copy.src, copy.dst}) {
    if (side.memory == nullptr || side.memory->device() == copy.executor || config_.peer_lenient) continue;
    if (!memory_.books().PeerEnabled(copy.executor, side.memory->device())) return kPeerClosed;
  }
  return CopyNow(copy) ? Status() : kHostRamUsedUp;
}

void Engine::Unpin(const OpSide& side) {
  if (side.block == nullptr) return;
  if (side.memory != nullptr) {
    side.memory->Unpin(side.block);
  } else {
    memory_.host().Unpin(side.block);
  }
}

// Gives back what a task held.
void Engine::Release(const Op& op) {
  switch (op.kind) {
    case OpKind::kCopy:
      Unpin(op.copy.dst);
      Unpin(op.copy.src);
      if (op.owns_source) free(const_cast<uint8_t*>(op.copy.shape.src));
      break;
    case OpKind::kFill:
      Unpin(op.fill.dst);
      break;
    case OpKind::kRecord:
    case OpKind::kWait:
      op.record->Drop();
      break;
  }
}

}  // namespace belay::engine
