#include "engine/guarded_copy.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "engine/copy_kernels.h"

namespace belay::engine {
namespace {
using memory::HostGuard;

constexpr size_t kPiece = 1 << 20;
constexpr size_t kBuffer = 16 << 10;

// Rows of a shape that are at most a piece, or a piece of one row.
template <class Visitor>
void ForEachPiece(const CopyShape& shape, Visitor&& visit) {
  CopyShape whole = shape;
  if (shape.linear()) whole = CopyShape::Linear(shape.dst, shape.src, shape.Bytes());
  const size_t pitch = std::max<size_t>({whole.dst_pitch, whole.src_pitch, 1});
  const size_t rows = std::max<size_t>(1, kPiece / pitch);
  for (size_t row = 0; row < whole.height; row += rows) {
    CopyShape part = whole.RowRange(row, std::min(rows, whole.height - row));
    if (rows > 1 || whole.width <= kPiece) {
      visit(part);
      continue;
    }
    for (size_t at = 0; at < whole.width; at += kPiece) {
      CopyShape piece = part.ColumnRange(at, std::min(kPiece, whole.width - at));
      visit(CopyShape::Linear(piece.dst, piece.src, piece.width));
    }
  }
}

bool Open(const HostGuard::Hold& hold, const CopyShape& s, bool from_host, bool to_host) {
  return (!from_host || hold.MayRead(s.src, s.SrcExtent())) &&
         (!to_host || hold.MayWrite(s.dst, s.DstExtent()));
}

// Inside the host, where the two sides may overlap: through a buffer.
void CopyInside(HostGuard& guard, const CopyShape& shape) {
  {
    HostGuard::Hold hold(guard);
    if (Open(hold, shape, true, true)) return CopyBytes(shape);
  }
  auto* buffer = static_cast<uint8_t*>(malloc(shape.Bytes()));
  if (buffer == nullptr) return CopyBytes(shape);  // the fault handler opens what is closed
  for (size_t row = 0; row < shape.height; ++row) {
    guard.Read(shape.src + row * shape.src_pitch, buffer + row * shape.width, shape.width);
  }
  for (size_t row = 0; row < shape.height; ++row) {
    guard.Write(shape.dst + row * shape.dst_pitch, buffer + row * shape.width, shape.width);
  }
  free(buffer);
}
}  // namespace

void CopyGuarded(HostGuard& guard, const CopyShape& shape, bool from_host, bool to_host) {
  if (guard.live() == 0 || !(from_host || to_host)) return CopyBytes(shape);
  if (from_host && to_host) return CopyInside(guard, shape);
  ForEachPiece(shape, [&](const CopyShape& piece) {
    {
      HostGuard::Hold hold(guard);
      if (Open(hold, piece, from_host, to_host)) return CopyBytes(piece, shape.Bytes());
    }
    for (size_t row = 0; row < piece.height; ++row) {
      const uint8_t* src = piece.src + row * piece.src_pitch;
      uint8_t* dst = piece.dst + row * piece.dst_pitch;
      from_host ? guard.Read(src, dst, piece.width) : guard.Write(dst, src, piece.width);
    }
  });
}

void FillGuarded(HostGuard& guard, uint8_t* at, int value, size_t bytes) {
  if (guard.live() == 0) return FillBytes(at, value, bytes);
  uint8_t buffer[kBuffer];
  bool filled = false;
  while (bytes > 0) {
    const size_t piece = std::min(bytes, kPiece);
    bool open;
    {
      HostGuard::Hold hold(guard);
      open = hold.MayWrite(at, piece);
      if (open) FillBytes(at, value, piece);
    }
    if (!open && !filled) {
      memset(buffer, value, kBuffer);
      filled = true;
    }
    for (size_t done = 0; !open && done < piece; done += kBuffer) {
      guard.Write(at + done, buffer, std::min(kBuffer, piece - done));
    }
    at += piece;
    bytes -= piece;
  }
}

uint64_t LoadGuarded(HostGuard& guard, const uint64_t* word) {
  {
    HostGuard::Hold hold(guard);
    if (hold.MayRead(word, sizeof *word)) {
      return std::atomic_ref<uint64_t>(*const_cast<uint64_t*>(word)).load(std::memory_order_acquire);
    }
  }
  uint64_t value;
  guard.Read(word, &value, sizeof value);
  return value;
}

void StoreGuarded(HostGuard& guard, uint64_t* word, uint64_t value) {
  {
    HostGuard::Hold hold(guard);
    if (hold.MayWrite(word, sizeof *word)) {
      return std::atomic_ref<uint64_t>(*word).store(value, std::memory_order_release);
    }
  }
  guard.Write(word, &value, sizeof value);
}

}  // namespace belay::engine
