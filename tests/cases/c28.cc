// C28: a device is set twice and reset twice; what comes after the second reset finds no device.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtSetDevice(0));
  void* block = nullptr;
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtFree(block));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_CODE(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
