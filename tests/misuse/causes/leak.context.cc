// An explicit context, which keeps its device open, is left to aclFinalize.
// finding: leak warning
// says: ^1 context of device 0 was never destroyed$
#include "cause.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  aclrtContext context = nullptr;
  EXPECT_OK(aclrtCreateContext(&context, 0));  // BUG
#if !BAD
  EXPECT_OK(aclrtDestroyContext(context));
#endif
  EXPECT_OK(aclFinalize());  // finalised here
  if (g_failures == 0) std::puts("ok");
  return g_failures == 0 ? 0 : 1;
}
