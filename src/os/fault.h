// The SIGSEGV handler: looks at faults in ranges that Belay reserved, passes every other one on.
//
// Guarantees: a fault that the watcher does not claim reaches the handler that the program had installed,
// with the same arguments, or the default action. After a claimed fault the program dies by SIGSEGV as it
// would on a card. Threading: installed once; the watcher runs on the faulting thread, in signal context, on
// the alternate stack if the thread has one. Belay brings none of its own: these faults are not stack
// overflows.
#pragma once

#include <cstdint>

namespace belay::os {

// `address` is the faulting data address, `pc` the instruction. Returns whether the fault was ours to
// explain.
using FaultWatcher = bool (*)(uintptr_t address, uintptr_t pc, bool is_write);

void InstallFaultHandler(FaultWatcher watcher);
// False when the program has put its own handler over ours since.
bool FaultHandlerInstalled();

}  // namespace belay::os
