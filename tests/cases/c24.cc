// C24: with ASCEND_RT_VISIBLE_DEVICES=4,5,6,7 the program selects device 5, which it must call 1.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  uint32_t count = 0;
  EXPECT_OK(aclrtGetDeviceCount(&count));
  EXPECT_TRUE(count == 4);
  EXPECT_CODE(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(5));
  EXPECT_OK(aclrtSetDevice(1));
  EXPECT_OK(aclrtResetDevice(1));
  EXPECT_OK(aclFinalize());
  return Result();
}
