// Address space: reservations, memory that the engine alone uses, and giving pages back.
//
// Reservations go to the kernel directly, because sanitizers end the process when a hinted mmap lands
// elsewhere. Threading: every function may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace belay::os {

enum class Access : uint8_t { kNone, kReadWrite };

// Reserves `bytes` at exactly `address`, or anywhere when `address` is 0. Nothing is committed. Returns 0
// when the range is taken or the limits of the process forbid it.
uintptr_t Reserve(uintptr_t address, size_t bytes, Access access);
void Release(uintptr_t address, size_t bytes);

// Huge pages on first touch, absent from core dumps. Best effort: an old kernel may refuse.
void AdviseEngineMemory(uintptr_t address, size_t bytes);
// Forked children get nothing at this range, so that a fork does not copy page tables of gigabytes.
void KeepFromChildren(uintptr_t address, size_t bytes);
// Huge pages on first touch, ordinary otherwise.
void AdviseHugePages(uintptr_t address, size_t bytes);
// Gives the pages back; the range reads as zero afterwards.
void Discard(uintptr_t address, size_t bytes);

}  // namespace belay::os
