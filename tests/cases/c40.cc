// C40: a small allocation is refused as if memory were short, but the device broke before: the text must say
// so.
#include <belay/control.h>

#include <string>

#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(belay_fail_device(0, ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR, nullptr));
  void* block = nullptr;
  EXPECT_CODE(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  const char* text = aclGetRecentErrMsg();
  EXPECT_TRUE(text != nullptr && std::string(text).find("507054") != std::string::npos);
  EXPECT_OK(aclrtResetDeviceForce(0));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtFree(block));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
