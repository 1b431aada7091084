// One place allocates on two devices, which end together.
// finding: leak warning
// says: ^2 blocks of device memory, 8192 bytes on 2 devices, were never freed$
#include "cause.h"

int main() {
  Begin();
  for (int device = 0; device < 2; ++device) {
    EXPECT_OK(aclrtSetDevice(device));
    void* block = nullptr;
    EXPECT_OK(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));  // BUG
#if !BAD
    EXPECT_OK(aclrtFree(block));
#endif
  }
  EXPECT_OK(aclFinalize());  // finalised here
  if (g_failures == 0) std::puts("ok");
  return g_failures == 0 ? 0 : 1;
}
