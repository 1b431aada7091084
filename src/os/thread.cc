#include "os/thread.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace belay::os {
namespace {
thread_local uint32_t t_thread_id __attribute__((tls_model("initial-exec"))) = 0;

void ForgetThreadId() {
  t_thread_id = 0;
}
const int g_registered = pthread_atfork(nullptr, nullptr, ForgetThreadId);

// Started by StartThread and not ended.
std::atomic<int> g_own_threads{0};

// A sanitizer's own thread is no thread of the program.
#if defined(__SANITIZE_THREAD__)
constexpr int kSanitizerThreads = 1;
#else
constexpr int kSanitizerThreads = 0;
#endif
}  // namespace

uint32_t ThreadId() {
  static_cast<void>(g_registered);
  if (t_thread_id == 0) t_thread_id = static_cast<uint32_t>(syscall(SYS_gettid));
  return t_thread_id;
}

int CoreCount() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}

int64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

bool StartThread(const char* name, void (*entry)(void*), void* argument, pthread_t* thread) {
  struct Start {
    void (*entry)(void*);
    void* argument;
  };
  auto* start = new Start{entry, argument};
  g_own_threads.fetch_add(1, std::memory_order_relaxed);
  sigset_t all, before;
  sigfillset(&all);
  // But for its own faults: the kernel kills a process that blocks one which it meets, and host functions of
  // the program run on these threads.
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(
      thread, nullptr,
      [](void* raw) -> void* {
        Start taken = *static_cast<Start*>(raw);
        delete static_cast<Start*>(raw);
        taken.entry(taken.argument);
        g_own_threads.fetch_sub(1, std::memory_order_relaxed);
        return nullptr;
      },
      start);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    g_own_threads.fetch_sub(1, std::memory_order_relaxed);
    delete start;
    return false;
  }
  pthread_setname_np(*thread, name);
  return true;
}

bool ThreadLives(uint32_t id) {
  return id != 0 && syscall(SYS_tgkill, getpid(), id, 0) == 0;
}

int ProgramThreads() {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return -1;
  int threads = 0;
  while (const dirent* entry = readdir(tasks)) threads += entry->d_name[0] != '.';
  closedir(tasks);
  return threads - g_own_threads.load(std::memory_order_relaxed) - kSanitizerThreads;
}

}  // namespace belay::os
