#include "os/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ctime>

#include <climits>

namespace belay::os {
namespace {
long Futex(const std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
}
}  // namespace

void FutexWait(const std::atomic<uint32_t>& word, uint32_t expected, int64_t timeout_ns) {
  timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  Futex(word, FUTEX_WAIT, expected, timeout_ns == kForever ? nullptr : &timeout);
}

void FutexWakeAll(std::atomic<uint32_t>& word) {
  Futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}
void FutexWakeOne(std::atomic<uint32_t>& word) {
  Futex(word, FUTEX_WAKE, 1, nullptr);
}

}  // namespace belay::os
