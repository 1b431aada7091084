// A forked child inherits the block and ends by exit: the parent's leak is told once, by the parent.
// finding: leak warning
// says: ^1 block of device memory, 4096 bytes on device 0, was never freed$
#include <sys/wait.h>

#include <cstdlib>

#include "cause.h"

int main() {
  Begin();
  void* block = nullptr;
  EXPECT_OK(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));  // BUG
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = -1;
  if (waitpid(child, &status, 0) != child || status != 0) ++g_failures;
#if !BAD
  EXPECT_OK(aclrtFree(block));
#endif
  return End();
}
