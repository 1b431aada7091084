// Explains host accesses to device memory: the finding `device-pointer-touched`.
#pragma once

namespace belay::runtime {

class Runtime;

// Watches the window and the alias region of this runtime from now on.
void WatchDevicePointers(Runtime& runtime);

}  // namespace belay::runtime
