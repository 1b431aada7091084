// C09: one branch synchronises before it reads the result, the other does not.
#include "program.h"

int Result(aclrtStream stream, const unsigned char* device, unsigned char* host, bool small) {
  EXPECT_OK(aclrtMemcpyAsync(host, kBytes, device, kBytes, kDown, stream));  // fetch here
  if (small) {
    EXPECT_OK(aclrtSynchronizeStream(stream));
    return host[0] + host[1];
  }
  if (!BAD) EXPECT_OK(aclrtSynchronizeStream(stream));
  return host[0] + host[1];  // BUG host-target-early: fetch
}

int main() {
  Begin();
  aclrtStream stream = NewStream();
  unsigned char *device = NewDevice(), *host = NewPinned();
  EXPECT_TRUE(Result(stream, device, host, true) == 2);
  EXPECT_OK(aclrtMemset(device, kBytes, 2, kBytes));
  const int result = Result(stream, device, host, false);
  EXPECT_TRUE(result == 4 || BAD);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_TRUE(host[0] == 2 && host[kBytes - 1] == 2);
  EXPECT_OK(aclrtFreeHost(host));
  EXPECT_OK(aclrtFree(device));
  return End();
}
