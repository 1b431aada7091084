// A device broke, and the next allocation fails with the code of exhausted memory. Case C40.
// finding: device-fault error
// says: device 0 is broken since a fault with code 507054: this is no lack of memory
#include <belay/control.h>

#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  Bytes bytes;
  bytes.Fill('a', stream);
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  bytes.End('a');
  EXPECT_OK(aclrtDestroyStream(stream));
#if BAD
  EXPECT_OK(belay_fail_device(0, ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR, nullptr));  // broken here
#endif
  void* block = nullptr;
  constexpr aclError kExpected = BAD ? ACL_ERROR_RT_MEMORY_ALLOCATION : ACL_SUCCESS;
  EXPECT_CODE(kExpected, aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));  // BUG
#if !BAD
  EXPECT_OK(aclrtFree(block));
#endif
  EXPECT_OK(aclrtResetDeviceForce(0));
  EXPECT_OK(aclrtSetDevice(0));
  return End();
}
