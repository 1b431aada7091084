#include "os/mapping.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace belay::os {

uintptr_t Reserve(uintptr_t address, size_t bytes, Access access) {
  int protection = access == Access::kNone ? PROT_NONE : PROT_READ | PROT_WRITE;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address != 0 ? MAP_FIXED_NOREPLACE : 0);
  long result = syscall(SYS_mmap, address, bytes, protection, flags, -1, 0L);
  if (result == -1) return 0;
  uintptr_t got = static_cast<uintptr_t>(result);
  if (address != 0 && got != address) {  // a kernel before 4.17 takes the address as a hint
    Release(got, bytes);
    return 0;
  }
  return got;
}

void Release(uintptr_t address, size_t bytes) {
  syscall(SYS_munmap, address, bytes);
}

void AdviseEngineMemory(uintptr_t address, size_t bytes) {
  void* start = reinterpret_cast<void*>(address);
  madvise(start, bytes, MADV_HUGEPAGE);
  madvise(start, bytes, MADV_DONTDUMP);
}

void KeepFromChildren(uintptr_t address, size_t bytes) {
  madvise(reinterpret_cast<void*>(address), bytes, MADV_DONTFORK);
}

void AdviseHugePages(uintptr_t address, size_t bytes) {
  madvise(reinterpret_cast<void*>(address), bytes, MADV_HUGEPAGE);
}

void Discard(uintptr_t address, size_t bytes) {
  madvise(reinterpret_cast<void*>(address), bytes, MADV_DONTNEED);
}

}  // namespace belay::os
