// The loops that move bytes, each good for one kind of copy; copy_kernels picks among them.
//
//   kCached      libc for one dimension, fixed-width code or libc for each row: the bytes pass through the
//   cache kStream      non-temporal stores in order, source prefetched past the cache kInterleave
//   non-temporal stores to four pages in turn, so that four DRAM pages are open at once
//
// Guarantees: source and destination must not overlap; non-temporal stores are fenced before the return.
// Threading: none of it shares anything.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/copy_shape.h"

namespace belay::engine {

enum class CopyLoop : uint8_t { kCached, kStream, kInterleave };
inline constexpr int kCopyLoops = 3;

// False where only kCached differs from libc: the other two then behave as kCached.
bool HasNonTemporalLoops();

void CopyLinear(CopyLoop loop, uint8_t* dst, const uint8_t* src, size_t bytes);

// The rows of a shape that is not linear. kStream and kInterleave want StreamableRows().
void CopyRows(CopyLoop loop, const CopyShape& shape);

// Non-temporal stores need every row of the destination to start on 16 bytes.
bool StreamableRows(const CopyShape& shape);

}  // namespace belay::engine
