// Finds the fastest loop for one class of big copies by timing the user's own copies.
//
//   pieces    every piece of a copy uses the next loop in turn; a loop that bypasses the cache must beat libc
//   by 5 % wholes    the winner and libc then move whole copies in two runs: libc may change its method with
//   the size, and
//             a destination that stays in the cache only shows when libc ran before as well. If libc wins,
//             both stages run again before that counts
//   settled   one atomic load a copy; after 64 copies (later up to 1024) it starts over, since the first
//   trial may
//             have met fresh pages or a busy machine; a second trial must agree before a choice changes
//
// Guarantees: the bytes of a copy are right in every stage. Threading: any; the thread that holds the trial
// samples, all others use what was settled last. No lock is waited for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/copy_loops.h"

namespace belay::engine {

class CopyTrial {
 public:
  enum class Stage : uint8_t { kPieces, kWholes, kSettled };

  // What to use without a sample; kCached until something was settled.
  CopyLoop choice() const { return choice_.load(std::memory_order_relaxed); }
  bool settled_once() const { return gain_.load(std::memory_order_relaxed) > 0; }
  // Time of libc / time of the best other loop; 0 before the first trial ended.
  float gain() const { return gain_.load(std::memory_order_relaxed); }

  // True if the caller now holds the trial for one copy; then Leave() must follow.
  bool TryEnter();
  void Leave();

  // The holder only:
  Stage stage() const { return stage_; }
  CopyLoop Next() const;                     // the loop for the next sample
  void Sample(double nanoseconds_per_byte);  // how long Next() took

 private:
  static constexpr int kRounds = 7;        // of pieces, each with every loop
  static constexpr int kWholeSamples = 3;  // of whole copies, for each of the two loops
  static constexpr float kMargin = 1.05f;

  void EndPieces();
  void EndWholes();
  void Settle(CopyLoop verdict, float gain);

  std::atomic<CopyLoop> choice_{CopyLoop::kCached};
  std::atomic<float> gain_{0};
  std::atomic<uint32_t> copies_left_{0};  // until the next trial
  std::atomic_flag held_;

  // Only the holder touches these.
  Stage stage_ = Stage::kPieces;
  bool doubted_ = false;
  uint32_t pause_ = 64;
  int count_ = 0;
  CopyLoop candidate_ = CopyLoop::kCached;
  CopyLoop last_verdict_ = CopyLoop::kCached;
  float samples_[kCopyLoops][kRounds] = {};
};

}  // namespace belay::engine
