// Broken invariants of Belay itself. A user's mistake is never one: that is a Finding.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace belay {

[[noreturn]] inline void CheckFailed(const char* what, const char* file, int line) {
  fprintf(stderr, "belay: internal error: %s does not hold at %s:%d; please report it\n", what, file, line);
  abort();
}

}  // namespace belay

#define BELAY_CHECK(CONDITION) \
  ((CONDITION) ? static_cast<void>(0) : ::belay::CheckFailed(#CONDITION, __FILE__, __LINE__))

#ifdef NDEBUG
#define BELAY_DCHECK(CONDITION) static_cast<void>(sizeof(CONDITION))
#else
#define BELAY_DCHECK(CONDITION) BELAY_CHECK(CONDITION)
#endif
