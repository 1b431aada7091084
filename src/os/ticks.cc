#include "os/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include <mutex>

#include "os/thread.h"

namespace belay::os {
namespace {

#if defined(__x86_64__)
bool Even() {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;  // invariant TSC
}
const bool g_even = Even();

int64_t Read() {
  return static_cast<int64_t>(__rdtsc());
}
#else
constexpr bool g_even = false;
int64_t Read() {
  return 0;
}
#endif

struct Pair {
  int64_t ticks, ns;
};

// The two clocks read together: of some tries the one in which least time passed between.
Pair ReadBoth() {
  Pair best{};
  int64_t least = INT64_MAX;
  for (int i = 0; i < 5; ++i) {
    int64_t before = Read(), ns = MonotonicNs(), after = Read();
    if (after - before >= least) continue;
    least = after - before;
    best = {before + least / 2, ns};
  }
  return best;
}

const Pair& Base() {
  static const Pair base = ReadBoth();
  return base;
}

// Measured once enough time has passed; before that, each time.
constexpr int64_t kLongEnoughNs = 200'000'000;
std::mutex g_mutex;
double g_ns_per_tick = 0;

double NsPerTick() {
  std::lock_guard lock(g_mutex);
  if (g_ns_per_tick != 0) return g_ns_per_tick;
  Pair now = ReadBoth();
  int64_t passed = now.ns - Base().ns;
  double ratio = static_cast<double>(passed) / static_cast<double>(now.ticks - Base().ticks);
  if (passed >= kLongEnoughNs) g_ns_per_tick = ratio;
  return ratio;
}
}  // namespace

int64_t NowTicks() {
  if (!g_even) return MonotonicNs();
  static_cast<void>(Base());
  return Read();
}

int64_t TicksToNs(int64_t ticks) {
  if (!g_even) return ticks;
  return Base().ns + static_cast<int64_t>(static_cast<double>(ticks - Base().ticks) * NsPerTick());
}

int64_t TickLengthNs(int64_t ticks) {
  return g_even ? static_cast<int64_t>(static_cast<double>(ticks) * NsPerTick()) : ticks;
}

}  // namespace belay::os
