// The bytes that one access touches: rows of equal width, a pitch apart. A linear range is one row.
//
// Guarantees: Overlap and Covers speak of bytes: what lies between width and pitch belongs to nobody. Overlap
// is exact. Threading: a value. Cost: Overlap takes a step for each row of the box with fewer rows.
#pragma once

#include <cstdint>

namespace belay::check {

struct OrderBox {
  uint64_t begin = 0;
  uint64_t width = 0;  // bytes of a row; 0: no byte at all
  uint64_t pitch = 0;  // between the starts of two rows; at least width
  uint64_t rows = 0;

  static OrderBox Linear(uint64_t begin, uint64_t bytes) { return {begin, bytes, bytes, 1}; }
  // Rows that touch each other are one row.
  static OrderBox Rows(uint64_t begin, uint64_t width, uint64_t pitch, uint64_t rows) {
    if (rows == 1 || width == pitch) return Linear(begin, width * rows);
    return {begin, width, pitch, rows};
  }

  bool empty() const { return width == 0 || rows == 0; }
  uint64_t end() const { return empty() ? begin : begin + (rows - 1) * pitch + width; }
};

// Whether the boxes share a byte.
bool Overlap(const OrderBox& a, const OrderBox& b);

// Whether every byte of `inner` is one of `outer`. May say no to a strided outer box that covers another
// shape.
bool Covers(const OrderBox& outer, const OrderBox& inner);

}  // namespace belay::check
