// The program puts a handler of its own over ours: one note, and nothing is guarded from then on.
#include <signal.h>
#include <unistd.h>

#include "program.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  unsigned char *device = NewDevice(), *host = NewPinned();
  struct sigaction before = {};
  if (!BAD) {
    struct sigaction action = {};
    action.sa_handler = [](int) { _exit(9); };
    sigaction(SIGSEGV, &action, &before);
  }
  for (int step = 0; step < 3; ++step) {
    EXPECT_OK(aclrtMemcpyAsync(device, kBytes, host, kBytes, kUp, stream));  // copy here
    host[0] = 5;                                                             // BUG host-source-changed: copy
    EXPECT_OK(aclrtSynchronizeStream(stream));
  }
  EXPECT_OK(aclrtFreeHost(host));
  EXPECT_OK(aclrtFree(device));
  return End();
}
