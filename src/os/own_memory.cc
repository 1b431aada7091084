#include "os/own_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace belay::os {
namespace {
constexpr uintptr_t kPage = 4096;
constexpr int kUnopened = -2;

std::atomic<int> g_fd{kUnopened};
std::atomic<uint64_t> g_inode{0};

class KeepErrno {
 public:
  KeepErrno() : saved_(errno) {}
  ~KeepErrno() { errno = saved_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  const int saved_;
};

uint64_t InodeOf(int fd) {
  struct stat about;
  return fstat(fd, &about) == 0 ? about.st_ino ^ (static_cast<uint64_t>(about.st_dev) << 32) : 0;
}

int Open() {
  int low = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (low < 0) return -1;
  // Out of the way of programs that expect the lowest numbers, or close them all.
  int fd = fcntl(low, F_DUPFD_CLOEXEC, 700);
  if (fd < 0) return low;
  close(low);
  return fd;
}

// The file of the process's memory. A program that closes files which it does not know may have closed it,
// and the number may be another file now: nothing is ever written there.
int File() {
  int fd = g_fd.load(std::memory_order_acquire);
  if (fd >= 0 && InodeOf(fd) == g_inode.load(std::memory_order_relaxed)) return fd;
  if (fd == -1) return -1;
  int fresh = Open();
  g_inode.store(fresh >= 0 ? InodeOf(fresh) : 0, std::memory_order_relaxed);
  if (!g_fd.compare_exchange_strong(fd, fresh, std::memory_order_acq_rel)) {
    close(fresh);
    return fd;
  }
  return fresh;
}

bool Move(long call, uintptr_t at, uintptr_t buffer, size_t bytes) {
  int fd = File();
  if (fd < 0) return false;
  while (bytes > 0) {
    long moved = syscall(call, fd, buffer, bytes, at);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    at += static_cast<size_t>(moved);
    buffer += static_cast<size_t>(moved);
    bytes -= static_cast<size_t>(moved);
  }
  return true;
}

// Shared mappings are not written past their protection, but may be mapped once more.
bool WriteByAlias(uintptr_t to, const void* from, size_t bytes) {
#if defined(__linux__)
  uintptr_t first = to & ~(kPage - 1);
  size_t extent = ((to + bytes + kPage - 1) & ~(kPage - 1)) - first;
  void* alias = mremap(reinterpret_cast<void*>(first), 0, extent, MREMAP_MAYMOVE);
  if (alias == MAP_FAILED) return false;
  bool open = mprotect(alias, extent, PROT_READ | PROT_WRITE) == 0;
  if (open) memcpy(static_cast<char*>(alias) + (to - first), from, bytes);
  munmap(alias, extent);
  return open;
#else
  return false;
#endif
}
}  // namespace

bool Protect(uintptr_t address, size_t bytes, Protection protection) {
  KeepErrno keep;
  int bits = protection == Protection::kNone       ? PROT_NONE
             : protection == Protection::kReadOnly ? PROT_READ
                                                   : PROT_READ | PROT_WRITE;
  // Not through libc: a sanitizer's own mprotect does more than this.
  return syscall(SYS_mprotect, address, bytes, bits) == 0;
}

bool IsReadWrite(uintptr_t address, size_t bytes) {
  KeepErrno keep;
  FILE* maps = fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  const uintptr_t end = address + bytes;
  char line[512];
  bool whole_line = true;
  while (address < end && fgets(line, sizeof line, maps) != nullptr) {
    bool starts = whole_line;
    whole_line = strchr(line, '\n') != nullptr;
    if (!starts) continue;
    unsigned long from = 0, to = 0;
    char bits[5] = "";
    if (sscanf(line, "%lx-%lx %4s", &from, &to, bits) != 3 || to <= address) continue;
    if (from > address || strncmp(bits, "rw-", 3) != 0) break;
    address = to;
  }
  fclose(maps);
  return address >= end;
}

bool ReadPast(uintptr_t from, void* to, size_t bytes) {
  KeepErrno keep;
  return Move(SYS_pread64, from, reinterpret_cast<uintptr_t>(to), bytes);
}

bool WritePast(uintptr_t to, const void* from, size_t bytes) {
  KeepErrno keep;
  return Move(SYS_pwrite64, to, reinterpret_cast<uintptr_t>(from), bytes) || WriteByAlias(to, from, bytes);
}

void ReopenOwnMemory() {
  KeepErrno keep;
  int fd = g_fd.exchange(kUnopened, std::memory_order_acq_rel);
  if (fd >= 0 && InodeOf(fd) == g_inode.load(std::memory_order_relaxed)) close(fd);
}

}  // namespace belay::os
