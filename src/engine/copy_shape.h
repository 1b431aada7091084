// The bytes that one copy moves: `height` rows of `width` bytes; a one-dimensional copy is one row.
//
//   row r: [src + r * src_pitch, + width)  ->  [dst + r * dst_pitch, + width)
//
// The bytes between `width` and a pitch belong to nobody: they are neither read nor written.
// Guarantees: a shape that a builder made has extents that do not overflow. Threading: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace belay::engine {

struct CopyShape {
  uint8_t* dst = nullptr;
  const uint8_t* src = nullptr;
  size_t dst_pitch = 0;
  size_t src_pitch = 0;
  size_t width = 0;
  size_t height = 0;

  static constexpr CopyShape Linear(uint8_t* dst, const uint8_t* src, size_t bytes) {
    return {dst, src, bytes, bytes, bytes, 1};
  }

  // Nothing when a pitch is shorter than a row or an extent does not fit in a size_t. SPEC 31 §2.2
  static constexpr std::optional<CopyShape> Rows(uint8_t* dst, size_t dst_pitch, const uint8_t* src,
                                                 size_t src_pitch, size_t width, size_t height) {
    if (dst_pitch < width || src_pitch < width) return std::nullopt;
    if (!Extent(dst_pitch, width, height) || !Extent(src_pitch, width, height)) return std::nullopt;
    return CopyShape{dst, src, dst_pitch, src_pitch, width, height};
  }

  // From the first byte of the first row to the last byte of the last: (height - 1) * pitch + width, 0 for no
  // bytes.
  static constexpr std::optional<size_t> Extent(size_t pitch, size_t width, size_t height) {
    if (width == 0 || height == 0) return size_t{0};
    size_t extent = 0;
    if (__builtin_mul_overflow(height - 1, pitch, &extent)) return std::nullopt;
    if (__builtin_add_overflow(extent, width, &extent)) return std::nullopt;
    return extent;
  }

  constexpr bool empty() const { return width == 0 || height == 0; }
  constexpr size_t Bytes() const { return width * height; }
  constexpr size_t DstExtent() const { return empty() ? 0 : (height - 1) * dst_pitch + width; }
  constexpr size_t SrcExtent() const { return empty() ? 0 : (height - 1) * src_pitch + width; }

  // True when the bytes follow each other without a gap on both sides.
  constexpr bool linear() const { return height == 1 || (width == dst_pitch && width == src_pitch); }

  // Rows [first, first + rows): a part that may be moved on its own.
  constexpr CopyShape RowRange(size_t first, size_t rows) const {
    return {dst + first * dst_pitch, src + first * src_pitch, dst_pitch, src_pitch, width, rows};
  }

  // Bytes [offset, offset + bytes) of every row: with RowRange it cuts a shape into pieces of any size.
  constexpr CopyShape ColumnRange(size_t offset, size_t bytes) const {
    return {dst + offset, src + offset, dst_pitch, src_pitch, bytes, height};
  }
};

}  // namespace belay::engine
