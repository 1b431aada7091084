// C12: an empty copy with a null pointer.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  char host[16] = {};
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(nullptr, 0, host, 0, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
