// C23: one device and ASCEND_RT_VISIBLE_DEVICES=4: nothing is visible.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  uint32_t count = 7;
  EXPECT_CODE(ACL_ERROR_RT_NO_DEVICE, aclrtGetDeviceCount(&count));
  EXPECT_TRUE(count == 0);
  EXPECT_CODE(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
