// What the system sees of guarded pages: a read(2) into them answers EFAULT and moves nothing, as for any
// memory that the process may not touch. And: fork, a handler of the program's own, threads.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <thread>

#include "program.h"

namespace {
volatile sig_atomic_t g_handled = 0;
unsigned char* g_foreign;

void Handle(int, siginfo_t* info, void*) {
  if (info->si_addr != g_foreign) _exit(9);
  g_handled = g_handled + 1;
  mprotect(g_foreign, 4096, PROT_READ | PROT_WRITE);
}
}  // namespace

int main() {
  struct sigaction action = {};
  action.sa_sigaction = Handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  g_foreign = static_cast<unsigned char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

  Begin();
  aclrtStream stream = NewStream();
  unsigned char *device = NewDevice(), *source = NewPinned(), *target = NewPinned();
  int file = open("/dev/zero", O_RDWR);
  EXPECT_OK(aclrtMemcpyAsync(device, kBytes, source, kBytes, kUp, stream));    // up here
  EXPECT_OK(aclrtMemcpyAsync(target, kBytes, device, kBytes, kDown, stream));  // down here
#if BAD
  EXPECT_TRUE(read(file, source, 10) == -1 && errno == EFAULT);
  EXPECT_TRUE(read(file, target, 10) == -1 && errno == EFAULT);
  int ends[2];
  EXPECT_TRUE(pipe(ends) == 0);
  EXPECT_TRUE(write(ends[1], source, 10) == 10);
  EXPECT_TRUE(write(ends[1], target, 10) == -1 && errno == EFAULT);
  close(ends[0]);
  close(ends[1]);
#endif

  // A child finds its copy of everything open.
  const pid_t child = fork();
  if (child == 0) {
    source[0] = target[0] = 1;
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);

  // A fault that is not ours reaches the program's handler.
  g_foreign[0] = 1;
  EXPECT_TRUE(g_handled == 1);

  if (!BAD) EXPECT_OK(aclrtSynchronizeStream(stream));
  std::thread([&] {
    source[77] = 8;                 // BUG host-source-changed: up
    EXPECT_TRUE(target[88] != 77);  // BUG host-target-early: down
  }).join();
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_TRUE(g_handled == 1);
  EXPECT_TRUE(read(file, source, 10) == 10 && read(file, target, 10) == 10);
  close(file);
  EXPECT_OK(aclrtFreeHost(source));
  EXPECT_OK(aclrtFreeHost(target));
  EXPECT_OK(aclrtFree(device));
  return End();
}
