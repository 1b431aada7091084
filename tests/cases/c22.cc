// C22: four devices and ASCEND_RT_VISIBLE_DEVICES=0,1,3,4: the list is cut before 4.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  uint32_t count = 0;
  EXPECT_OK(aclrtGetDeviceCount(&count));
  EXPECT_TRUE(count == 3);
  EXPECT_CODE(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(3));
  EXPECT_OK(aclrtSetDevice(2));
  int32_t logical = -1;
  EXPECT_OK(aclrtGetLogicDevIdByUserDevId(2, &logical));
  EXPECT_TRUE(logical == 3);
  EXPECT_OK(aclrtResetDevice(2));
  EXPECT_OK(aclFinalize());
  return Result();
}
