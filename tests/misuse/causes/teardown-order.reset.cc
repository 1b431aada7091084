// A device is reset while a stream and a context of the program still exist on it.
// finding: teardown-order warning
// says: device 0 was reset while
#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  Bytes bytes;
  bytes.Fill('a', stream);
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  bytes.End('a');
#if !BAD
  EXPECT_OK(aclrtDestroyStream(stream));
#endif
  EXPECT_OK(aclrtResetDeviceForce(0));  // BUG
  EXPECT_OK(aclrtSetDevice(0));
  return End();
}
