// Moves and sets bytes as fast as this machine can: libc where it is best, non-temporal stores where they
// win.
//
// Guarantees: the result is as if the source were read whole before the first byte is written (SPEC 31
// §0.4.6); bytes between the rows of a shape are neither read nor written; all stores are visible to whoever
// synchronises with the caller after the return. Which loop is best for big copies is measured on the user's
// own copies and measured again now and then, never assumed. Threading: any thread at any time; no lock and
// no allocation (but for rows that overlap at unequal pitches). Cost: below `big_copy` bytes, libc's memmove
// and a few branches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "engine/copy_loops.h"
#include "engine/copy_shape.h"
#include "engine/copy_trial.h"

namespace belay::engine {

// Where the classes of copies begin, in bytes.
struct CopyLimits {
  size_t last_level_cache = 0;  // from sysfs; 0 when unknown
  size_t big_copy = 16u << 20;  // smaller payloads always pass through the cache
  size_t piece = 4u << 20;      // one timed piece of a big copy
  size_t big_row = 64;          // narrower rows always pass through the cache

  // What this machine says: half the last-level cache, but 8 to 16 MiB.
  static CopyLimits Detect();
};

// One class of copies and what was found for it.
struct CopyFinding {
  const char* what;
  bool tried;
  CopyLoop loop;
  float gain;  // time of libc / time of the best other loop
};

// A snapshot for `belay doctor`.
struct CopyTuning {
  static constexpr int kLinearClasses = 5;  // < 16, < 32, < 64, < 128 MiB, more
  static constexpr int kRowClasses = 6;     // rows < 1 KiB, < 16 KiB, more; destination with gaps, without
  static constexpr int kClasses = kLinearClasses + kRowClasses;

  CopyLimits limits;
  std::array<CopyFinding, kClasses> classes;

  std::string ToString() const;
};

// The loops, with the trials that choose among them. The process has one (CopyBytes); tests make their own.
class CopyKernels {
 public:
  explicit CopyKernels(const CopyLimits& limits) : limits_(limits) {}

  void Copy(const CopyShape& part, size_t whole_bytes);
  CopyTuning tuning() const;

 private:
  void CopyBig(CopyTrial& trial, const CopyShape& shape);

  const CopyLimits limits_;
  CopyTrial trials_[CopyTuning::kClasses];
};

// Moves the bytes of a shape.
void CopyBytes(const CopyShape& shape);

// Moves one row between ranges that do not overlap. Copies of a few KiB go to libc in pieces that it moves
// with vector registers: for more it starts microcode (`rep movsb`), and what is around the copy then waits.
constexpr size_t kVectorPiece = 2048;
void CopyApartInPieces(uint8_t* dst, const uint8_t* src, size_t bytes);
inline void CopyApart(uint8_t* dst, const uint8_t* src, size_t bytes) {
  if (bytes > kVectorPiece) return CopyApartInPieces(dst, src, bytes);
  memcpy(dst, src, bytes);
}

// Moves one part of a copy of `whole_bytes` that the caller cut: the size of the whole picks the loop. Parts
// from 4 MiB on are also measured.
void CopyBytes(const CopyShape& part, size_t whole_bytes);

// memset: libc's is the best at every size.
void FillBytes(uint8_t* dst, int value, size_t bytes);

// What CopyBytes does on this machine.
CopyTuning CurrentCopyTuning();

}  // namespace belay::engine
