// C04: a stream of device 0 is destroyed while device 1 is current.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtSetDevice(1));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CONTEXT, aclrtDestroyStream(stream));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclFinalize());
  return Result();
}
