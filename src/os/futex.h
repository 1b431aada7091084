// Sleeping until a 32-bit word changes.
//
// Threading: Wait returns when the word no longer holds `expected`, when woken, on a signal, or at the
// deadline; the caller looks again. Cost: Wake with nobody asleep is one system call, so callers count their
// sleepers.
#pragma once

#include <atomic>
#include <cstdint>

namespace belay::os {

constexpr int64_t kForever = -1;

void FutexWait(const std::atomic<uint32_t>& word, uint32_t expected, int64_t timeout_ns = kForever);
void FutexWakeAll(std::atomic<uint32_t>& word);
void FutexWakeOne(std::atomic<uint32_t>& word);

// A polite pause inside a bounded spin.
inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace belay::os
