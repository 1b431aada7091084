// A registration is dropped by the reset of its device.
// finding: leak warning
// says: ^1 registration of host memory, 4096 bytes for device 0, was never cancelled$
#include <cstdlib>

#include "cause.h"

int main() {
  Begin();
  void* buffer = std::aligned_alloc(4096, kBytes);
  void* mapped = nullptr;
  EXPECT_OK(aclrtHostRegister(buffer, kBytes, ACL_HOST_REGISTER_MAPPED, &mapped));  // BUG
#if !BAD
  EXPECT_OK(aclrtHostUnregister(buffer));
#endif
  EXPECT_OK(aclrtResetDeviceForce(0));  // reset here
  EXPECT_OK(aclrtSetDevice(0));
  std::free(buffer);
  return End();
}
