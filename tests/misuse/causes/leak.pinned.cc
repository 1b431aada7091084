// Pinned host memory, which a reset leaves alone, is taken away by aclFinalize.
// finding: leak warning
// says: ^2 blocks of pinned host memory, 8192 bytes, were never freed$
#include "cause.h"

int main() {
  Begin();
  for (int i = 0; i < 2; ++i) {
    void* block = nullptr;
    EXPECT_OK(aclrtMallocHost(&block, kBytes));  // BUG
#if !BAD
    EXPECT_OK(aclrtFreeHost(block));
#endif
  }
  return End();
}
