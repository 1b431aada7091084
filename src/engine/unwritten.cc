// Copies whose target is written for the first time, or whose source holds bytes that nothing wrote.
#include <vector>

#include "engine/engine.h"

namespace belay::engine {
using memory::DeviceMemory;

bool Engine::CopyUnready(const CopyTask& copy) const {
  const CopyShape& shape = copy.shape;
  const OpSide& device_side = copy.dst.memory != nullptr ? copy.dst : copy.src;
  if (device_side.memory->poisons()) return CopyPoisoned(copy);
  if (!PrepareWrite(copy.dst, shape.dst, shape.DstExtent(), !shape.linear())) return false;
  if (copy.src.memory != nullptr) {
    copy.src.memory->PrepareRead(*copy.src.block, At(copy.src, shape.src), shape.SrcExtent());
  }
  MoveBytes(copy, shape);
  return true;
}

// The target gets poison where the source has unwritten bytes, and counts as written all the same: a copy is
// where such bytes are found, once. What the source's pages hold there is never read.
bool Engine::CopyPoisoned(const CopyTask& copy) const {
  CopyShape shape = copy.shape;
  if (shape.linear()) shape = CopyShape::Linear(shape.dst, shape.src, shape.Bytes());
  if (!PrepareWrite(copy.dst, shape.dst, shape.DstExtent(), /*gaps=*/true)) return false;
  auto note_written = [&](const uint8_t* at, size_t rows) {
    if (copy.dst.memory == nullptr) return;
    copy.dst.memory->NoteWritten(*copy.dst.block, At(copy.dst, at), shape.dst_pitch, shape.width, rows);
  };
  bool all_written = copy.src.memory == nullptr ||
                     copy.src.memory->AllWritten(*copy.src.block, At(copy.src, shape.src), shape.SrcExtent());
  if (all_written) {
    note_written(shape.dst, shape.height);
    MoveBytes(copy, shape);
    return true;
  }
  // As if the source were read whole before the first byte is written: only one block overlaps itself, and
  // only in a copy of one dimension (SPEC 31 §2).
  bool overlaps = shape.dst < shape.src + shape.SrcExtent() && shape.src < shape.dst + shape.DstExtent();
  std::vector<DeviceMemory::Piece> pieces;
  for (size_t row = 0; row < shape.height; ++row) {
    const CopyShape part = shape.RowRange(row, 1);
    copy.src.memory->FindPieces(*copy.src.block, At(copy.src, part.src), part.width, &pieces);
    note_written(part.dst, 1);
    if (overlaps) MoveBytes(copy, part);
    for (const DeviceMemory::Piece& piece : pieces) {
      size_t bytes = piece.to - piece.from;
      if (!piece.written) {
        FillTask fill{part.dst + piece.from, bytes, copy.dst, DeviceMemory::kPoison};
        PutBytes(fill);
      } else if (!overlaps) {
        MoveBytes(copy, CopyShape::Linear(part.dst + piece.from, part.src + piece.from, bytes));
      }
    }
  }
  return true;
}

}  // namespace belay::engine
