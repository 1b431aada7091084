#include "os/thread.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sched.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace belay::os {
namespace {

uint32_t KernelId() {
  return static_cast<uint32_t>(syscall(SYS_gettid));
}

TEST(ThreadTest, TheIdIsTheKernels) {
  EXPECT_EQ(ThreadId(), KernelId());
  EXPECT_EQ(ThreadId(), static_cast<uint32_t>(getpid())) << "the main thread";
  std::thread([] { EXPECT_EQ(ThreadId(), KernelId()); }).join();
}

TEST(ThreadTest, AForkedChildHasItsOwnId) {
  ThreadId();
  pid_t child = fork();
  if (child == 0) _exit(ThreadId() == static_cast<uint32_t>(getpid()) ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ThreadTest, TimeDoesNotGoBack) {
  int64_t before = MonotonicNs();
  EXPECT_GT(before, 0);
  for (int i = 0; i < 1000; ++i) {
    int64_t now = MonotonicNs();
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(ThreadTest, ThereIsAtLeastOneCore) {
  EXPECT_GE(CoreCount(), 1);
}

TEST(ThreadTest, CoresAreThoseThatThisProcessMayUse) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    CPU_SET(cpu, &one);
    break;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(CoreCount(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

struct Seen {
  sigset_t mask;
  uint32_t id = 0;
  char name[16] = {};
  std::atomic<bool> named{false};
};

TEST(StartThreadTest, BlocksEverySignalButItsOwnFaultsOnTheNewThreadOnly) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  Seen seen;
  pthread_t thread;
  ASSERT_TRUE(StartThread(
      "belay-test",
      [](void* argument) {
        auto* into = static_cast<Seen*>(argument);
        pthread_sigmask(SIG_SETMASK, nullptr, &into->mask);
        into->id = ThreadId();
        while (!into->named.load()) sched_yield();
        pthread_getname_np(pthread_self(), into->name, sizeof into->name);
      },
      &seen, &thread));
  seen.named.store(true);
  pthread_join(thread, nullptr);
  // glibc keeps two signals for itself.
  for (int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGPROF, SIGCHLD, SIGRTMIN, SIGRTMAX}) {
    EXPECT_EQ(sigismember(&seen.mask, signal), 1) << strsignal(signal);
  }
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    EXPECT_EQ(sigismember(&seen.mask, signal), 0) << strsignal(signal);
  }
  EXPECT_NE(seen.id, ThreadId());
  EXPECT_STREQ(seen.name, "belay-test");
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal));
}

std::atomic<uint32_t> g_handled_by{0};

TEST(StartThreadTest, HandlersOfTheProgramRunOnItsOwnThreads) {
  struct sigaction action = {}, before;
  action.sa_handler = [](int) { g_handled_by.store(KernelId()); };
  sigaction(SIGUSR1, &action, &before);
  std::atomic<bool> stop{false};
  pthread_t thread;
  ASSERT_TRUE(StartThread(
      "belay-test",
      [](void* argument) {
        while (!static_cast<std::atomic<bool>*>(argument)->load()) sched_yield();
      },
      &stop, &thread));
  for (int i = 0; i < 50; ++i) {
    g_handled_by.store(0);
    kill(getpid(), SIGUSR1);
    while (g_handled_by.load() == 0) sched_yield();
    EXPECT_EQ(g_handled_by.load(), ThreadId());
  }
  stop.store(true);
  pthread_join(thread, nullptr);
  sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace belay::os
