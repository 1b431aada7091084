// Looks at the faults of the program: accesses to device memory (the finding `device-pointer-touched`), and
// to host memory that the guard closed.
#pragma once

namespace belay::runtime {

class Runtime;

// Watches the window, the alias region and the guarded pages of this runtime from now on.
void WatchFaults(Runtime& runtime);

}  // namespace belay::runtime
