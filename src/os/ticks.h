// The time of the moment at the price of a register: the processor's counter where it runs evenly, else the
// monotonic clock.
//
// Threading: any. Cost: 10 ns where clock_gettime takes 20 to 30.
#pragma once

#include <cstdint>

namespace belay::os {

// Counts from an arbitrary start, in units of its own. The first call sets the base of TicksToNs.
int64_t NowTicks();

// Monotonic nanoseconds. The counter's speed is measured against the clock between the base and now; the
// error is a few hundred nanoseconds over that time.
int64_t TicksToNs(int64_t ticks);
// The length of a time that was counted in ticks.
int64_t TickLengthNs(int64_t ticks);

}  // namespace belay::os
