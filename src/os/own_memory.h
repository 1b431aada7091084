// The memory of this process: its protection, and its bytes whatever the protection says.
//
// Threading: any; all but IsReadWrite also in signal handlers. Each keeps errno.
#pragma once

#include <cstddef>
#include <cstdint>

namespace belay::os {

enum class Protection : uint8_t { kReadWrite, kReadOnly, kNone };

// Of whole pages. False when the system refuses: the address space has too many parts, or something is not
// mapped.
bool Protect(uintptr_t address, size_t bytes, Protection protection);

// Whether every page of the range may be read and written, and no more.
bool IsReadWrite(uintptr_t address, size_t bytes);

// Copies past the protection. False, perhaps after a part, when the system does not allow it.
bool ReadPast(uintptr_t from, void* to, size_t bytes);
bool WritePast(uintptr_t to, const void* from, size_t bytes);

// In a forked child: what was opened before leads to the parent.
void ReopenOwnMemory();

}  // namespace belay::os
