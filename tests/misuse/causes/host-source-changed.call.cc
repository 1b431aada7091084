// A synchronous copy overwrites the source of an asynchronous one.
// finding: host-source-changed error
// says: aclrtMemcpy wrote .* that aclrtMemcpyAsync on stream 1 of device 0 copies
// run: --check=+guard
#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  Bytes bytes;
  void* other = nullptr;
  EXPECT_OK(aclrtMalloc(&other, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  constexpr aclrtMemcpyKind up = ACL_MEMCPY_HOST_TO_DEVICE;
  EXPECT_OK(aclrtMemcpyAsync(other, kBytes, bytes.host, kBytes, up, stream));  // submitted here
#if !BAD
  EXPECT_OK(aclrtSynchronizeStream(stream));
#endif
  constexpr aclrtMemcpyKind down = ACL_MEMCPY_DEVICE_TO_HOST;
  EXPECT_OK(aclrtMemcpy(bytes.host, kBytes, bytes.device, kBytes, down));  // BUG
  EXPECT_OK(aclrtSynchronizeStream(stream));
  bytes.End('\0');
  EXPECT_OK(aclrtFree(other));
  EXPECT_OK(aclrtDestroyStream(stream));
  return End();
}
