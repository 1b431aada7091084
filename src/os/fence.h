// A fence whose cost one side bears: the rare side pays for both.
//
//   often:   write the data;        LightFence();  look whether somebody waits
//   rarely:  say that one waits;    HeavyFence();  look at the data
//
// Guarantees: at least one of the two sides sees what the other wrote. Threading: any. Cost: the light side
// is a compiler barrier where the kernel has membarrier(2), else a full fence.
#pragma once

#include <atomic>

namespace belay::os {

// Whether the kernel takes the light side's fence on itself; set before the first heavy one.
extern const bool g_light_fences;

inline void LightFence() {
  if (g_light_fences) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}
void HeavyFence();

}  // namespace belay::os
