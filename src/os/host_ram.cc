#include "os/host_ram.h"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace belay::os {
namespace {
constexpr uint64_t kUnlimited = ~uint64_t{0};

uint64_t ReadNumber(const char* path) {
  FILE* file = fopen(path, "re");
  if (file == nullptr) return kUnlimited;
  uint64_t value = kUnlimited;
  if (fscanf(file, "%" SCNu64, &value) != 1) value = kUnlimited;  // "max" has no number
  fclose(file);
  return value;
}

uint64_t AvailableBytes() {
  FILE* file = fopen("/proc/meminfo", "re");
  if (file == nullptr) return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  char line[256];
  uint64_t kib = 0;
  while (fgets(line, sizeof(line), file) != nullptr && sscanf(line, "MemAvailable: %" SCNu64, &kib) != 1) {
  }
  fclose(file);
  return kib * 1024;
}
}  // namespace

uint64_t DefaultHostMemory() {
  uint64_t group = std::min(ReadNumber("/sys/fs/cgroup/memory.max"),
                            ReadNumber("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  uint64_t available = AvailableBytes() / 10 * 8;
  return std::max<uint64_t>(std::min(group, available), uint64_t{64} << 20);
}

}  // namespace belay::os
