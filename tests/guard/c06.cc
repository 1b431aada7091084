// C06: a pinned buffer is filled again in each step while its copy of the step before may still run.
#include "program.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  unsigned char *device = NewDevice(), *host = NewPinned();
  for (unsigned char step = 0; step < 5; ++step) {
    host[100] = step;                                                        // BUG host-source-changed: copy
    EXPECT_OK(aclrtMemcpyAsync(device, kBytes, host, kBytes, kUp, stream));  // copy here
    EXPECT_OK(aclrtMemsetAsync(device, kBytes, 9, 50, stream));
    if (!BAD) EXPECT_OK(aclrtSynchronizeStream(stream));
  }
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_TRUE(host[100] == 4);
  EXPECT_TRUE(Fetched(device, 100) == 4 && Fetched(device, 49) == 9 && Fetched(device, 50) == 0);
  EXPECT_OK(aclrtFreeHost(host));
  EXPECT_OK(aclrtFree(device));
  return End();
}
