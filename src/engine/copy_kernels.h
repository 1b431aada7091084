// Moves and sets bytes as fast as this machine can: libc where it is best, non-temporal stores where they win.
//
// Guarantees: the result is as if the source were read whole before the first byte is written (SPEC 31 §0.4.6);
// bytes between the rows of a shape are neither read nor written; all stores are visible to whoever synchronises
// with the caller after the return. Which kernel is best from 16 MiB on is measured on the user's own copies and
// measured again now and then, never assumed.
// Threading: any thread at any time; no lock, no allocation (but for rows that overlap at unequal pitches).
// Cost: below 16 MiB, libc's memmove and one branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/copy_shape.h"

namespace belay::engine {

// The thresholds of the kernels and what was measured so far; for `belay doctor`.
struct CopyTuning {
  static constexpr int kClasses = 6;  // copies of 16..32, 32..64, >= 64 MiB; rows, strided destination: the same

  enum class Choice : uint8_t { kUndecided, kLibc, kNonTemporal };

  size_t last_level_cache = 0;          // bytes, from sysfs; 0 when unknown
  size_t trial_threshold = 16u << 20;   // smaller payloads always go through libc
  size_t trial_piece = 4u << 20;        // bytes of one timed piece
  size_t strided_row_min = 64;          // rows from here on may be stored past the cache if the destination has gaps
  size_t packed_row_min = 16u << 10;    // ... if the destination has none
  bool non_temporal = false;            // this build has non-temporal kernels
  Choice choice[kClasses] = {};
  float gain[kClasses] = {};            // median time of libc / time of non-temporal, 0 before the first trial

  std::string ToString() const;
};

// Moves the bytes of a shape.
void CopyBytes(const CopyShape& shape);

// memset: libc's is the best at every size.
void FillBytes(uint8_t* dst, int value, size_t bytes);

// What CopyBytes does on this machine.
CopyTuning CurrentCopyTuning();

}  // namespace belay::engine
