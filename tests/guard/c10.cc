// C10: a pinned buffer is freed, and a registered one unregistered, while their copies may still run.
#include "program.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  unsigned char *device = NewDevice(), *pinned = NewPinned();
  auto* own = static_cast<unsigned char*>(aligned_alloc(4096, kBytes));
  std::memset(own, 7, kBytes);
  void* mapped = nullptr;
  EXPECT_OK(aclrtHostRegister(own, kBytes, ACL_HOST_REGISTER_MAPPED, &mapped));
  EXPECT_OK(aclrtMemcpyAsync(pinned, kBytes, device, kBytes, kDown, stream));  // down here
  EXPECT_OK(aclrtMemcpyAsync(device, kBytes, own, kBytes, kUp, stream));       // up here
  if (!BAD) EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtFreeHost(pinned));     // BUG host-buffer-gone: down
  EXPECT_OK(aclrtHostUnregister(own));  // BUG host-buffer-gone: up
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_TRUE(Fetched(device, kBytes - 1) == 7);
  own[0] = 8;
  free(own);
  unsigned char* next = NewPinned();  // memory that the guard has forgotten
  EXPECT_OK(aclrtFreeHost(next));
  EXPECT_OK(aclrtFree(device));
  return End();
}
