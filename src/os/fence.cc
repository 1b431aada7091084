#include "os/fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace belay::os {
namespace {
long Membarrier(int command) {
  return syscall(__NR_membarrier, command, 0u, 0);
}
}  // namespace

const bool g_light_fences = Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;

void HeavyFence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (g_light_fences) Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

}  // namespace belay::os
