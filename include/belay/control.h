// Steering the emulated machine from a test: hold a stream, land one task, look at what is pending, inject
// faults. Only Belay has these functions; a program that may also run on a card looks them up with dlsym.
//
// Every function returns an aclError: 0, 100000 (a null pointer or a number outside its range), 107002 (no
// current context), 107003 (a stream of another context), 107017 (no such stream), 107001 (no such device).
// A null stream is the default stream of the current context. Threading: from any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "acl/acl.h"

#ifdef __cplusplus
extern "C" {
#endif

// Holds a stream: its tasks stay queued, under every schedule, until it is released. Waits for a task that
// is running at this moment. Holding a held stream changes nothing.
aclError belay_hold_stream(aclrtStream stream);

// Lets a held stream go on. No effect on a stream that is not held.
aclError belay_release_stream(aclrtStream stream);

// Lands the oldest task of a held stream, in this call (a host function or callback: when its body
// returned). `*landed` (may be null) is 1, or 0 when nothing is queued or the task waits for something that
// has not happened. A stream that is not held: 107000.
aclError belay_land_one(aclrtStream stream, int* landed);

typedef struct belay_pending_task {
  uint32_t task;    // number in its stream from 0, as aclrtGetTaskIdFromExceptionInfo gives it
  uint32_t thread;  // kernel id of the submitting thread
  const char* api;  // the function that submitted it; static text
  int waiting;      // 1: it is at the head of its stream and waits for an event, notify, value or callback
} belay_pending_task;

// Writes the first `capacity` pending tasks, oldest first, and their total number to `*count`.
// `tasks` may be null when `capacity` is 0.
aclError belay_list_pending(aclrtStream stream, belay_pending_task* tasks, size_t capacity, size_t* count);

// The next task submitted to the stream fails with `code` (not 0) when its turn comes, and has no effect.
aclError belay_fail_next_task(aclrtStream stream, aclError code);

// The device breaks now, fatally (SPEC 21 §6.3), with `code` (not 0), as if one of its tasks had failed with
// it. `info`, which may be null, is what aclrtGetErrorVerbose and aclrtGetMemUceInfo then tell.
aclError belay_fail_device(int32_t device, aclError code, const aclrtErrorInfo* info);

#ifdef __cplusplus
}
#endif
