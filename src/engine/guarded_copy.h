// Moves bytes of the host whose pages the guard may have closed: directly where they are open, past their
// protection where not.
//
// Threading: any. Copies of the size of a piece hold up the closing of pages, larger ones between pieces
// only.
#pragma once

#include "engine/copy_shape.h"
#include "memory/host_guard.h"

namespace belay::engine {

// As CopyBytes; says which sides are memory of the host.
void CopyGuarded(memory::HostGuard& guard, const CopyShape& shape, bool from_host, bool to_host);
// As FillBytes, in memory of the host.
void FillGuarded(memory::HostGuard& guard, uint8_t* at, int value, size_t bytes);
// An aligned word of the host.
uint64_t LoadGuarded(memory::HostGuard& guard, const uint64_t* word);
void StoreGuarded(memory::HostGuard& guard, uint64_t* word, uint64_t value);

}  // namespace belay::engine
