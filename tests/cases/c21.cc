// C21: an address inside a page is registered.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  void *host = nullptr, *device = nullptr;
  EXPECT_OK(aclrtMallocHost(&host, 8192));
  void* inside = static_cast<char*>(host) + 16;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegister(inside, 4096, ACL_HOST_REGISTER_MAPPED, &device));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(inside, 4096, ACL_HOST_REG_MAPPED));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtHostGetDevicePointer(inside, &device, 0));
  EXPECT_TRUE(device == nullptr);
  EXPECT_OK(aclrtHostRegisterV2(host, 4096, ACL_HOST_REG_MAPPED));
  EXPECT_OK(aclrtHostGetDevicePointer(inside, &device, 0));
  EXPECT_OK(aclrtHostUnregister(host));
  EXPECT_OK(aclrtFreeHost(host));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
