#include "os/fault.h"

#include <signal.h>
#include <ucontext.h>

#include <atomic>

namespace belay::os {
namespace {
std::atomic<FaultWatcher> g_watcher{nullptr};
struct sigaction g_previous;

uintptr_t ProgramCounter(const ucontext_t* context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return context->uc_mcontext.pc;
#endif
}

bool IsWrite(const ucontext_t* context) {
#if defined(__x86_64__)
  return (context->uc_mcontext.gregs[REG_ERR] & 2) != 0;  // bit 1 of the page-fault code
#else
  static_cast<void>(context);
  return false;
#endif
}

void PassOn(int signal_number, siginfo_t* info, void* context) {
  if ((g_previous.sa_flags & SA_SIGINFO) != 0) {
    g_previous.sa_sigaction(signal_number, info, context);
  } else if (g_previous.sa_handler == SIG_DFL || g_previous.sa_handler == SIG_IGN) {
    // A signal that somebody sent does not come again, and only such a one can be ignored.
    bool sent = info->si_code <= 0;
    if (sent && g_previous.sa_handler == SIG_IGN) return;
    // The faulting instruction runs again after the handler returns and then meets the default action.
    signal(signal_number, SIG_DFL);
    if (sent) raise(signal_number);
  } else {
    g_previous.sa_handler(signal_number);
  }
}

void Handle(int signal_number, siginfo_t* info, void* context) {
  auto* machine = static_cast<const ucontext_t*>(context);
  FaultWatcher watcher = g_watcher.load(std::memory_order_acquire);
  // si_code > 0: raised by the kernel for a memory access, not sent by kill().
  if (watcher != nullptr && info->si_code > 0) {
    watcher(reinterpret_cast<uintptr_t>(info->si_addr), ProgramCounter(machine), IsWrite(machine));
  }
  PassOn(signal_number, info, context);
}
}  // namespace

void InstallFaultHandler(FaultWatcher watcher) {
  if (g_watcher.exchange(watcher, std::memory_order_acq_rel) != nullptr) return;
  struct sigaction action = {};
  action.sa_sigaction = Handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &g_previous);
}

bool FaultHandlerInstalled() {
  struct sigaction now;
  return sigaction(SIGSEGV, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
         now.sa_sigaction == Handle;
}

}  // namespace belay::os
