// Device memory is allocated in a loop and taken away when the runtime is finalised.
// finding: leak warning
// says: ^8 blocks of device memory, 32768 bytes on device 0, were never freed$
#include "cause.h"

int main() {
  Begin();
  for (int i = 0; i < 8; ++i) {
    void* block = nullptr;
    EXPECT_OK(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));  // BUG
    EXPECT_OK(aclrtMemset(block, kBytes, i, kBytes));
#if !BAD
    EXPECT_OK(aclrtFree(block));
#endif
  }
  EXPECT_OK(aclFinalize());  // finalised here
  if (g_failures == 0) std::puts("ok");
  return g_failures == 0 ? 0 : 1;
}
