// C08: a result is read before the stream is synchronised. The copy is small: its bytes may well be there
// already.
#include "program.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  unsigned char *device = NewDevice(), *host = NewPinned();
  constexpr size_t kFew = 256;
  EXPECT_OK(aclrtMemcpyAsync(host, kFew, device, kFew, kDown, stream));  // result here
  if (!BAD) EXPECT_OK(aclrtSynchronizeStream(stream));
  const int seen = host[17];  // BUG host-target-early: result
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_TRUE(host[17] == 1);
  EXPECT_TRUE(seen == 1 || BAD);
  EXPECT_OK(aclrtFreeHost(host));
  EXPECT_OK(aclrtFree(device));
  return End();
}
