// C25: a worker is forked after a device was set, and allocates.
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  const pid_t child = fork();
  if (child == 0) {
    void* block = nullptr;
    EXPECT_CODE(ACL_ERROR_RT_INTERNAL_ERROR, aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_TRUE(block == nullptr);
    const char* message = aclGetRecentErrMsg();
    EXPECT_TRUE(message != nullptr && std::strstr(message, "aclInit") != nullptr);
    EXPECT_TRUE(message != nullptr && std::strstr(message, std::to_string(getppid()).c_str()) != nullptr);
    EXPECT_TRUE(message != nullptr && std::strstr(message, "spawn or exec") != nullptr);
    std::fflush(stdout);
    _exit(Result());
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(status == 0);
  void* block = nullptr;
  EXPECT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtFree(block));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
