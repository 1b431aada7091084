// A synchronous copy passes a result on before the host could know that it is there.
// finding: host-target-early error
// says: aclrtMemcpy read .* that aclrtMemcpyAsync on stream 1 of device 0 writes
// run: --check=+guard
#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  Bytes bytes;
  void* other = nullptr;
  EXPECT_OK(aclrtMalloc(&other, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  bytes.Fill('a', stream);
  constexpr aclrtMemcpyKind down = ACL_MEMCPY_DEVICE_TO_HOST, up = ACL_MEMCPY_HOST_TO_DEVICE;
  EXPECT_OK(aclrtMemcpyAsync(bytes.host, kBytes, bytes.device, kBytes, down, stream));  // submitted here
#if !BAD
  EXPECT_OK(aclrtSynchronizeStream(stream));
#endif
  EXPECT_OK(aclrtMemcpy(other, kBytes, bytes.host, kBytes, up));  // BUG
  EXPECT_OK(aclrtSynchronizeStream(stream));
  bytes.End('a');
  EXPECT_OK(aclrtFree(other));
  EXPECT_OK(aclrtDestroyStream(stream));
  return End();
}
