// The SIGSEGV handler: looks at faults in ranges that Belay reserved or closed, passes every other one on.
//
// Guarantees: a fault that the watcher does not repair reaches the handler that the program had installed,
// with the same arguments, or the default action. Threading: installed once; the watcher runs on the faulting
// thread, in signal context, on the alternate stack if the thread has one.
#pragma once

#include <cstdint>

namespace belay::os {

struct Fault {
  uintptr_t address;  // of the data
  uintptr_t pc;       // the instruction
  uintptr_t sp, fp;   // its stack and frame pointer
  bool is_write;      // false also where the machine does not tell
  bool mapped;        // the page is there, only its protection forbids the access
};

enum class FaultVerdict : uint8_t {
  kNotOurs,
  kExplained,  // something was said; the program goes the way of its fault
  kRepaired,   // the instruction runs again
};
using FaultWatcher = FaultVerdict (*)(const Fault& fault);

void InstallFaultHandler(FaultWatcher watcher);
// False when the program has put its own handler over ours since.
bool FaultHandlerInstalled();

// Gives the calling thread an alternate stack for handlers, if it has none: its own stack may be what faults.
void TakeAlternateStack();
// Before the thread ends.
void ReturnAlternateStack();

}  // namespace belay::os
