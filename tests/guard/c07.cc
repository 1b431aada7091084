// C07: five pinned arrays are filled again for the second step while the copies of the first are queued.
#include "program.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  unsigned char* device = NewDevice(5 * kBytes);
  unsigned char* host[5];
  for (unsigned char*& array : host) array = NewPinned();
  auto to = [device](int i) { return device + i * kBytes; };

  EXPECT_OK(aclrtMemcpyAsync(to(0), kBytes, host[0], kBytes, kUp, stream));  // positions here
  EXPECT_OK(aclrtMemcpyAsync(to(1), kBytes, host[1], kBytes, kUp, stream));  // tokens here
  EXPECT_OK(aclrtMemcpyAsync(to(2), kBytes, host[2], kBytes, kUp, stream));  // slots here
  EXPECT_OK(aclrtMemcpyAsync(to(3), kBytes, host[3], kBytes, kUp, stream));  // lengths here
  EXPECT_OK(aclrtMemcpyAsync(to(4), kBytes, host[4], kBytes, kUp, stream));  // starts here
  if (!BAD) EXPECT_OK(aclrtSynchronizeStream(stream));

  host[0][0] = 10;           // BUG host-source-changed: positions
  host[1][kBytes - 1] = 11;  // BUG host-source-changed: tokens
  host[2][5000] = 12;        // BUG host-source-changed: slots
  host[3][4096] = 13;        // BUG host-source-changed: lengths
  host[4][4095] = 14;        // BUG host-source-changed: starts
  host[4][4096] = 15;        // of the same copy, which was reported
  for (int i = 0; i < 5; ++i) {
    EXPECT_OK(aclrtMemcpyAsync(to(i), kBytes, host[i], kBytes, kUp, stream));
  }
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_TRUE(Fetched(to(0)) == 10 && Fetched(to(1), kBytes - 1) == 11 && Fetched(to(4), 4096) == 15);
  for (unsigned char* array : host) EXPECT_OK(aclrtFreeHost(array));
  EXPECT_OK(aclrtFree(device));
  return End();
}
