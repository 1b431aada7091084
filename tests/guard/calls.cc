// Accesses that are no loads and stores of the program: synchronous copies and functions of libc. They point
// at the line of the call, and they work.
#include <algorithm>

#include "program.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  unsigned char *device = NewDevice(), *other = NewDevice(), *host = NewPinned();
  static unsigned char bytes[kBytes];
  auto up = [&] { EXPECT_OK(aclrtSynchronizeStream(stream)); };

  EXPECT_OK(aclrtMemcpyAsync(device, kBytes, host, kBytes, kUp, stream));  // first here
  EXPECT_OK(aclrtMemcpy(other, kBytes, host, kBytes, kUp));                // reads a source
  if (!BAD) up();
  std::memset(host, 2, kBytes);  // BUG host-source-changed: first
  up();
  EXPECT_OK(aclrtMemcpyAsync(device, kBytes, host, kBytes, kUp, stream));  // second here
  if (!BAD) up();
  std::fill_n(host + 8192, 5000, static_cast<unsigned char>(3));  // BUG host-source-changed: second
  up();
  EXPECT_OK(aclrtMemcpyAsync(device, kBytes, host, kBytes, kUp, stream));  // third here
  if (!BAD) up();
  EXPECT_OK(aclrtMemcpy(host, kBytes, other, kBytes, kDown));  // BUG host-source-changed: third
  EXPECT_TRUE(host[5] == 0 && host[kBytes - 1] == 0);
  up();
  EXPECT_OK(aclrtMemset(device, kBytes, 4, kBytes));
  EXPECT_OK(aclrtMemcpyAsync(host, kBytes, device, kBytes, kDown, stream));  // fourth here
  if (!BAD) up();
  std::memcpy(bytes, host + 6000, 300);  // BUG host-target-early: fourth
  up();
  EXPECT_OK(aclrtMemcpyAsync(host, kBytes, device, kBytes, kDown, stream));  // fifth here
  if (!BAD) up();
  EXPECT_OK(aclrtMemcpy(other, kBytes, host, kBytes, kUp));  // BUG host-target-early: fifth
  up();
  EXPECT_TRUE(Fetched(other, 100) == 4);
  EXPECT_OK(aclrtMemsetAsync(host, kBytes, 5, kBytes, stream));  // sixth here
  if (!BAD) up();
  EXPECT_OK(aclrtMemset(host, kBytes, 6, 10));  // BUG host-target-early: sixth
  up();
  EXPECT_TRUE(host[kBytes - 1] == 5);
  EXPECT_OK(aclrtFreeHost(host));
  EXPECT_OK(aclrtFree(device));
  EXPECT_OK(aclrtFree(other));
  return End();
}
