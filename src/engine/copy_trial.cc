#include "engine/copy_trial.h"

#include <algorithm>

namespace belay::engine {
namespace {

float Median(float* values, int count) {
  std::nth_element(values, values + count / 2, values + count);
  return values[count / 2];
}

}  // namespace

bool CopyTrial::TryEnter() {
  uint32_t left = copies_left_.load(std::memory_order_relaxed);
  if (left > 0) {
    // Lost decrements only delay the next trial.
    copies_left_.store(left - 1, std::memory_order_relaxed);
    return false;
  }
  if (held_.test_and_set(std::memory_order_acquire)) return false;
  if (stage_ == Stage::kSettled) stage_ = Stage::kPieces, count_ = 0;
  return true;
}

void CopyTrial::Leave() {
  held_.clear(std::memory_order_release);
}

CopyLoop CopyTrial::Next() const {
  if (stage_ == Stage::kSettled) return choice();
  if (stage_ == Stage::kWholes) return count_ < kWholeSamples ? candidate_ : CopyLoop::kCached;
  // Every other round goes backwards, so that no loop always comes first.
  int round = count_ / kCopyLoops, turn = count_ % kCopyLoops;
  return static_cast<CopyLoop>(round % 2 == 0 ? turn : kCopyLoops - 1 - turn);
}

void CopyTrial::Sample(double nanoseconds_per_byte) {
  float value = std::max(static_cast<float>(nanoseconds_per_byte), 1e-6f);
  if (stage_ == Stage::kPieces) {
    samples_[static_cast<int>(Next())][count_ / kCopyLoops] = value;
    if (++count_ == kRounds * kCopyLoops) EndPieces();
  } else if (stage_ == Stage::kWholes) {
    // libc's first sample still meets a destination that the other loop kept out of the cache.
    if (count_ < kWholeSamples) samples_[1][count_] = value;
    if (count_ > kWholeSamples) samples_[0][count_ - kWholeSamples - 1] = value;
    if (++count_ == 2 * kWholeSamples + 1) EndWholes();
  }
}

void CopyTrial::EndPieces() {
  float best = 0;
  for (int loop = 1; loop < kCopyLoops; ++loop) {
    float ratios[kRounds];
    for (int round = 0; round < kRounds; ++round) ratios[round] = samples_[0][round] / samples_[loop][round];
    float gain = Median(ratios, kRounds);
    if (gain > best) best = gain, candidate_ = static_cast<CopyLoop>(loop);
  }
  if (best < kMargin) return Settle(CopyLoop::kCached, best);
  stage_ = Stage::kWholes, count_ = 0;
}

void CopyTrial::EndWholes() {
  // The best of each run: what disturbs a copy only ever makes it slower.
  float libc = *std::min_element(samples_[0], samples_[0] + kWholeSamples);
  float other = *std::min_element(samples_[1], samples_[1] + kWholeSamples);
  if (libc / other >= kMargin) return Settle(candidate_, libc / other);
  if (!doubted_) {
    // The pieces said otherwise: a disturbance during one of the runs, or libc at its best on whole copies.
    doubted_ = true, stage_ = Stage::kPieces, count_ = 0;
    return;
  }
  Settle(CopyLoop::kCached, libc / other);
}

void CopyTrial::Settle(CopyLoop verdict, float gain) {
  stage_ = Stage::kSettled, doubted_ = false;
  bool repeated = !settled_once() || verdict == last_verdict_;
  last_verdict_ = verdict;
  if (verdict != choice() && !repeated) return;  // the next copy starts the second trial
  choice_.store(verdict, std::memory_order_relaxed);
  gain_.store(gain, std::memory_order_relaxed);
  copies_left_.store(pause_, std::memory_order_relaxed);
  pause_ = std::min<uint32_t>(pause_ * 4, 1024);
}

}  // namespace belay::engine
