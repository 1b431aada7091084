#include "check/order_box.h"

#include <algorithm>

namespace belay::check {
namespace {
// Whether [begin, end) holds a byte of the box. Only the first row that ends behind `begin` can be it.
bool Touches(const OrderBox& box, uint64_t begin, uint64_t end) {
  uint64_t row = 0;
  if (begin >= box.begin + box.width) row = (begin - box.begin - box.width) / box.pitch + 1;
  return row < box.rows && box.begin + row * box.pitch < end;
}
}  // namespace

bool Overlap(const OrderBox& a, const OrderBox& b) {
  if (a.empty() || b.empty() || a.end() <= b.begin || b.end() <= a.begin) return false;
  const OrderBox& fewer = a.rows <= b.rows ? a : b;
  const OrderBox& more = a.rows <= b.rows ? b : a;
  // Only rows that reach into the other box.
  uint64_t first = 0, past = fewer.rows;
  if (more.begin >= fewer.begin + fewer.width) {
    first = (more.begin - fewer.begin - fewer.width) / fewer.pitch + 1;
  }
  if (more.end() > fewer.begin) past = std::min(past, (more.end() - fewer.begin - 1) / fewer.pitch + 1);
  for (uint64_t row = first; row < past; ++row) {
    const uint64_t begin = fewer.begin + row * fewer.pitch;
    if (Touches(more, begin, begin + fewer.width)) return true;
  }
  return false;
}

bool Covers(const OrderBox& outer, const OrderBox& inner) {
  if (inner.empty()) return true;
  if (outer.empty() || inner.begin < outer.begin || inner.end() > outer.end()) return false;
  if (outer.rows == 1) return true;
  if (outer.pitch != inner.pitch && inner.rows > 1) return false;
  // Each row of `inner` lies in one row of `outer`.
  const uint64_t column = (inner.begin - outer.begin) % outer.pitch;
  return column + inner.width <= outer.width;
}

}  // namespace belay::check
