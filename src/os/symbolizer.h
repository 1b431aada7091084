// Turns a return address into function, file and line, or at least into module and offset.
//
// Guarantees: never fails; `module` and `offset` are filled whenever the address lies in a loaded module.
// Modules
//   loaded later by dlopen are found. Allocates with mmap only, in no context with malloc.
// Threading: any thread; in a signal handler with SymbolContext::kSignal. Concurrent callers take turns; one
// that
//   interrupted another on the same thread, or waits too long, gets module and offset only.
// Cost: the first look-up in a process reads its debug information (milliseconds), later ones take
// microseconds.
#pragma once

#include <cstdint>

#include "base/text.h"

namespace belay::os {

enum class SymbolContext : uint8_t { kNormal, kSignal };

struct Symbol {
  Text<256> function;   // demangled where that needs no malloc or the context allows it; empty = unknown
  Text<256> file;       // empty = unknown
  Text<256> module;     // path of the executable or shared object; empty = unknown
  uint32_t line = 0;    // 0 = unknown
  uint64_t offset = 0;  // of the call inside the module, as `addr2line -e module` takes it
};

// `return_address` as __builtin_return_address gives it: the call is just before it. Of inlined frames the
// innermost one outside the system headers is taken.
Symbol Symbolize(uint64_t return_address, SymbolContext context = SymbolContext::kNormal);

// False when Belay was built without libbacktrace: sites are then module and offset only.
bool HasDebugInfoReader();

}  // namespace belay::os
