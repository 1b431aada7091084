// No thread of the library takes a signal of the program: each blocks all of them but those of its own
// faults, handlers run on the program's threads only, and a signal makes no call return early.
#include <belay/control.h>
#include <sys/syscall.h>

#include <atomic>

#include "tasks.h"

namespace program {
namespace {

std::atomic<int> handled{0};
std::atomic<int> elsewhere{0};
int main_id = 0;

int ThreadId() {
  return static_cast<int>(syscall(SYS_gettid));
}
void Handle(int) {
  ++handled;
  if (ThreadId() != main_id) ++elsewhere;
}
void Exception(aclrtExceptionInfo*) {}

// Those that a thread can block: the C library keeps 32 and 33 for itself, the system two more. A thread that
// blocks the signal of a fault dies of it.
uint64_t Blockable() {
  uint64_t set = ~uint64_t{0};
  for (int number : {SIGKILL, SIGSTOP, 32, 33, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    set &= ~(uint64_t{1} << (number - 1));
  return set;
}

void CheckMasks(size_t workers) {
  for (const char* name : {"belay-host", "belay-timer", "belay-exception"}) CHECK(CountTasks(name) >= 1);
  CHECK(CountTasks("belay-worker") == workers);
  for (const Task& task : Tasks()) {
    if (task.name.rfind("belay-", 0) == 0) CHECK((task.blocked & Blockable()) == Blockable());
    if (task.id == main_id) CHECK(task.blocked == 0);
  }
}

}  // namespace
}  // namespace program

// leaves_signals_alone WORKERS
int main(int argc, char** argv) {
  using namespace program;
  CHECK(argc == 2);
  main_id = ThreadId();
  Begin();
  signal(SIGUSR1, Handle);
  // Every kind of thread: workers, one inside a host function, the alarm of a wait with a limit, and the one
  // that tells of failures.
  aclrtStream copies = NewStream(), gated = NewStream(), waiting = NewStream(), failing = NewStream();
  RoundTrip trip(size_t{1} << 20, 1);
  Gate gate;
  aclrtNotify notify = nullptr;
  OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  OK(aclrtWaitAndResetNotify(notify, waiting, 1000));
  CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiting, 1));
  OK(aclrtLaunchHostFunc(gated, Gate::Body, &gate));
  OK(aclrtSetExceptionInfoCallback(Exception));
  OK(belay_fail_next_task(failing, ACL_ERROR_RT_AICORE_EXCEPTION));
  trip.Out(failing);
  CODE(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(failing));
  trip.Out(copies);
  trip.Back(copies);
  OK(aclrtSynchronizeStream(copies));
  gate.entered.Wait();
  CheckMasks(static_cast<size_t>(atoi(argv[1])));

  // Sent to the process: any thread that does not block it may get it.
  for (int i = 0; i < 500; ++i) {
    trip.Out(copies);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    OK(aclrtSynchronizeStream(copies));
  }
  CHECK(handled > 0);
  CHECK(elsewhere == 0);

  // Signals that arrive while the main thread waits do not end its wait.
  const pthread_t main_thread = pthread_self();
  std::thread sender([&] {
    for (int i = 0; i < 200; ++i) {
      const int before = handled;
      CHECK(pthread_kill(main_thread, SIGUSR1) == 0);
      CHECK(Eventually([&] { return handled > before; }));
    }
    gate.go.Set();
  });
  OK(aclrtSynchronizeStream(gated));
  CHECK(gate.passed.is_set());
  sender.join();

  OK(aclrtRecordNotify(notify, copies));
  for (aclrtStream stream : {copies, gated, waiting, failing}) {
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtDestroyStream(stream));
  }
  OK(aclrtDestroyNotify(notify));
  return 0;
}
