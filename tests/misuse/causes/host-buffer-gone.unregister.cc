// A registered buffer is unregistered before its copy is known to be complete.
// finding: host-buffer-gone error
// says: aclrtHostUnregister took away the 4096 bytes
// run: --check=+guard
#include <cstdlib>

#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  Bytes bytes;
  void *own = std::aligned_alloc(kBytes, kBytes), *mapped = nullptr;
  std::fill_n(static_cast<char*>(own), kBytes, 'b');
  EXPECT_OK(aclrtHostRegister(own, kBytes, ACL_HOST_REGISTER_MAPPED, &mapped));
  constexpr aclrtMemcpyKind up = ACL_MEMCPY_HOST_TO_DEVICE;
  EXPECT_OK(aclrtMemcpyAsync(bytes.device, kBytes, own, kBytes, up, stream));  // submitted here
#if !BAD
  EXPECT_OK(aclrtSynchronizeStream(stream));
#endif
  EXPECT_OK(aclrtHostUnregister(own));  // BUG
  EXPECT_OK(aclrtSynchronizeStream(stream));
  std::free(own);
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  bytes.End('b');
  EXPECT_OK(aclrtDestroyStream(stream));
  return End();
}
