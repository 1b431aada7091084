// Threads of the library, and what the machine offers them.
#pragma once

#include <pthread.h>

#include <cstdint>

namespace belay::os {

// The kernel's id of the calling thread; cached, so it costs one load. In a forked child the cache is
// refreshed.
uint32_t ThreadId();

// Processors that this process may run on, at least 1.
int CoreCount();

// Monotonic time in nanoseconds.
int64_t MonotonicNs();

// Starts a thread that blocks every signal but those of its own faults, so that handlers of the program run
// on the program's threads only. Returns false when the system refuses; the caller then goes on with fewer
// threads.
bool StartThread(const char* name, void (*entry)(void*), void* argument, pthread_t* thread);

// Whether a thread of this process lives; 0 is none.
bool ThreadLives(uint32_t id);

// Threads of this process that StartThread did not start; -1 where the system does not tell.
int ProgramThreads();

}  // namespace belay::os
