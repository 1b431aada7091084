#include "os/fault.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cerrno>

#include <atomic>

namespace belay::os {
namespace {
std::atomic<FaultWatcher> g_watcher{nullptr};
struct sigaction g_previous;

thread_local void* t_stack __attribute__((tls_model("initial-exec"))) =
    nullptr;  // ReturnAlternateStack gives it back
constexpr size_t kStackBytes = 128 << 10;

Fault Describe(const siginfo_t& info, const ucontext_t& context) {
  Fault fault = {};
  fault.address = reinterpret_cast<uintptr_t>(info.si_addr);
  fault.mapped = info.si_code == SEGV_ACCERR;
#if defined(__x86_64__)
  const auto& registers = context.uc_mcontext.gregs;
  fault.pc = static_cast<uintptr_t>(registers[REG_RIP]);
  fault.sp = static_cast<uintptr_t>(registers[REG_RSP]);
  fault.fp = static_cast<uintptr_t>(registers[REG_RBP]);
  fault.is_write = (registers[REG_ERR] & 2) != 0;  // bit 1 of the page-fault code
#elif defined(__aarch64__)
  fault.pc = context.uc_mcontext.pc;
  fault.sp = context.uc_mcontext.sp;
  fault.fp = context.uc_mcontext.regs[29];
#endif
  return fault;
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
  FaultWatcher watcher = g_watcher.load(std::memory_order_acquire);
  // si_code > 0: raised by the kernel for a memory access, not sent by kill().
  if (watcher != nullptr && info->si_code > 0) {
    const int saved_errno = errno;
    const Fault fault = Describe(*info, *static_cast<const ucontext_t*>(context));
    const FaultVerdict verdict = watcher(fault);
    errno = saved_errno;
    if (verdict == FaultVerdict::kRepaired) return;
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

void TakeAlternateStack() {
  stack_t now;
  if (t_stack != nullptr || sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  void* bytes =
      mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bytes == MAP_FAILED) return;
  stack_t fresh = {};
  fresh.ss_sp = bytes;
  fresh.ss_size = kStackBytes;
  if (sigaltstack(&fresh, nullptr) == 0) {
    t_stack = bytes;
  } else {
    munmap(bytes, kStackBytes);
  }
}

void ReturnAlternateStack() {
  if (t_stack == nullptr) return;
  stack_t now;
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_ONSTACK) != 0) return;
  if (now.ss_sp == t_stack) {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  munmap(t_stack, kStackBytes);
  t_stack = nullptr;
}

}  // namespace belay::os
