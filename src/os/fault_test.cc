#include "os/fault.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "os/mapping.h"

// Handlers stay for the life of a process, so each test installs them in a process of its own.
namespace belay::os {
namespace {

uintptr_t g_ours;  // a page that faults

void Say(const char* text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(9);
}

FaultVerdict Watch(const Fault& fault) {
  if (fault.address != g_ours) return Say("not ours;"), FaultVerdict::kNotOurs;
  Say(fault.pc != 0 && fault.sp != 0 ? "ours," : "no place,");
  Say(fault.is_write ? "write;" : "read;");
  return FaultVerdict::kExplained;
}

FaultVerdict Repair(const Fault& fault) {
  if (fault.address != g_ours || !fault.mapped) return FaultVerdict::kNotOurs;
  mprotect(reinterpret_cast<void*>(g_ours), 4096, PROT_READ | PROT_WRITE);
  errno = EIO;
  return FaultVerdict::kRepaired;
}

void Write(uintptr_t address) {
  *reinterpret_cast<volatile uint8_t*>(address) = 1;
}
void Read(uintptr_t address) {
  static_cast<void>(*reinterpret_cast<volatile uint8_t*>(address));
}

void SayInfoAndExit(int signal_number, siginfo_t* info, void* context) {
  Say(signal_number == SIGSEGV && context != nullptr ? "previous," : "wrong signal,");
  Say(reinterpret_cast<uintptr_t>(info->si_addr) == g_ours ? "same address" : "other address");
  _exit(3);
}

void SayPlainAndExit(int signal_number) {
  Say(signal_number == SIGSEGV ? "plain previous" : "wrong signal");
  _exit(4);
}

void SetHandler(void (*with_info)(int, siginfo_t*, void*), void (*plain)(int)) {
  struct sigaction action = {};
  if (with_info != nullptr) {
    action.sa_sigaction = with_info;
    action.sa_flags = SA_SIGINFO;
  } else {
    action.sa_handler = plain;
  }
  sigaction(SIGSEGV, &action, nullptr);
}

class FaultDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    g_ours = Reserve(0, 4096, Access::kNone);
    ASSERT_NE(g_ours, 0u);
  }
  void TearDown() override { Release(g_ours, 4096); }
};

TEST_F(FaultDeathTest, TheWatcherSeesAddressInstructionAndDirection) {
  auto touch = [](auto how) {
    SetHandler(SayInfoAndExit, nullptr);
    InstallFaultHandler(Watch);
    how(g_ours);
  };
#if defined(__x86_64__)
  EXPECT_EXIT(touch(Write), testing::ExitedWithCode(3), "ours,write;previous,same address");
#endif
  EXPECT_EXIT(touch(Read), testing::ExitedWithCode(3), "ours,read;previous,same address");
}

TEST_F(FaultDeathTest, FaultsOfOthersReachTheHandlerBefore) {
  EXPECT_EXIT(
      {
        SetHandler(SayInfoAndExit, nullptr);
        InstallFaultHandler(Watch);
        uintptr_t other = Reserve(0, 4096, Access::kNone);
        Write(other);
      },
      testing::ExitedWithCode(3), "not ours;previous,other address");
}

TEST_F(FaultDeathTest, PlainHandlersAreCalledPlainly) {
  EXPECT_EXIT(
      {
        SetHandler(nullptr, SayPlainAndExit);
        InstallFaultHandler(Watch);
        Write(g_ours);
      },
      testing::ExitedWithCode(4), "ours,.*plain previous");
}

TEST_F(FaultDeathTest, WithoutAHandlerTheProcessDiesOfTheFault) {
  auto touch = [](void (*before)(int)) {
    signal(SIGSEGV, before);
    InstallFaultHandler(Watch);
    Write(g_ours);
  };
  EXPECT_EXIT(touch(SIG_DFL), testing::KilledBySignal(SIGSEGV), "ours,");
  EXPECT_EXIT(touch(SIG_IGN), testing::KilledBySignal(SIGSEGV), "ours,");
}

TEST_F(FaultDeathTest, ASentSignalIsNoFault) {
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        InstallFaultHandler(Watch);
        kill(getpid(), SIGSEGV);
        _exit(5);
      },
      testing::KilledBySignal(SIGSEGV), "^$");
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_IGN);
        InstallFaultHandler(Watch);
        raise(SIGSEGV);
        if (!FaultHandlerInstalled()) _exit(5);
        Say("ignored");
        _exit(6);
      },
      testing::ExitedWithCode(6), "^ignored$");
}

TEST_F(FaultDeathTest, AHandlerThatRepairsTheFaultGoesOn) {
  EXPECT_EXIT(
      {
        SetHandler(
            [](int, siginfo_t*, void*) { mprotect(reinterpret_cast<void*>(g_ours), 4096, PROT_WRITE); },
            nullptr);
        InstallFaultHandler(Watch);
        Write(g_ours);
        Say("went on");
        _exit(FaultHandlerInstalled() ? 7 : 8);
      },
      testing::ExitedWithCode(7), "ours,.*went on");
}

TEST_F(FaultDeathTest, ARepairedFaultReachesNobodyElse) {
  EXPECT_EXIT(
      {
        SetHandler(SayInfoAndExit, nullptr);
        InstallFaultHandler(Repair);
        errno = 0;
        Write(g_ours);
        if (errno != 0 || *reinterpret_cast<volatile uint8_t*>(g_ours) != 1) _exit(8);
        Say("went on");
        _exit(7);
      },
      testing::ExitedWithCode(7), "^went on$");
}

TEST_F(FaultDeathTest, TheAlternateStackIsUsed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers bring a stack of their own";
#endif
  EXPECT_EXIT(
      {
        static uintptr_t g_frame = 0;
        InstallFaultHandler([](const Fault& fault) {
          g_frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
          return Repair(fault);
        });
        TakeAlternateStack();
        stack_t stack;
        sigaltstack(nullptr, &stack);
        Write(g_ours);
        if (g_frame - reinterpret_cast<uintptr_t>(stack.ss_sp) >= stack.ss_size) _exit(8);
        ReturnAlternateStack();
        sigaltstack(nullptr, &stack);
        _exit((stack.ss_flags & SS_DISABLE) != 0 ? 7 : 9);
      },
      testing::ExitedWithCode(7), "");
}

TEST_F(FaultDeathTest, HandlersThatJumpOutMayFaultAgain) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer runs handlers with every signal blocked";
#endif
  // SA_NODEFER: a handler that leaves by siglongjmp without a saved mask must not leave the signal blocked.
  EXPECT_EXIT(
      {
        static sigjmp_buf g_back;
        SetHandler([](int, siginfo_t*, void*) { siglongjmp(g_back, 1); }, nullptr);
        InstallFaultHandler(Watch);
        volatile int jumps = 0;
        if (sigsetjmp(g_back, 0) != 0) jumps = jumps + 1;
        if (jumps < 3) Write(g_ours);
        _exit(10 + jumps);
      },
      testing::ExitedWithCode(13), "ours,.*ours,.*ours,");
}

TEST_F(FaultDeathTest, KnowsWhenTheProgramPutItsOwnHandlerOver) {
  EXPECT_EXIT(
      {
        if (FaultHandlerInstalled()) _exit(1);
        InstallFaultHandler(Watch);
        if (!FaultHandlerInstalled()) _exit(2);
        InstallFaultHandler(Watch);  // again: not chained to itself
        SetHandler(SayInfoAndExit, nullptr);
        _exit(FaultHandlerInstalled() ? 3 : 0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace belay::os
