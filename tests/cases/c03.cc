// C03: asking for free memory before any device is selected.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  uint32_t count = 0;
  EXPECT_OK(aclrtGetDeviceCount(&count));
  EXPECT_TRUE(count > 0);
  size_t free = 0, total = 0;
  EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  EXPECT_OK(aclFinalize());
  return Result();
}
