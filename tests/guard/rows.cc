// Two-dimensional copies use rows: what lies between them belongs to nobody and may be touched.
#include "program.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  constexpr size_t kPitch = 1000, kWidth = 600, kRows = 30;
  unsigned char *device = NewDevice(), *source = NewPinned(), *target = NewPinned();
  EXPECT_OK(aclrtMemcpy2dAsync(device, kWidth, source, kPitch, kWidth, kRows, kUp, stream));
  EXPECT_OK(aclrtMemcpy2dAsync(target, kPitch, device, kWidth, kWidth, kRows, kDown, stream));  // down here
  source[kPitch + kWidth] = target[3 * kPitch + kWidth] = 5;
  source[kRows * kPitch] = target[kRows * kPitch] = 6;
  EXPECT_TRUE(target[4 * kPitch - 1] == 0);
  if (!BAD) EXPECT_OK(aclrtSynchronizeStream(stream));
  // On a page that no neighbour opened.
  const int seen = target[20 * kPitch];  // BUG host-target-early: down
  EXPECT_TRUE(seen == 0 || BAD);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_TRUE(target[3 * kPitch + kWidth] == 5 && target[20 * kPitch] == 0);
  EXPECT_OK(aclrtFreeHost(source));
  EXPECT_OK(aclrtFreeHost(target));
  EXPECT_OK(aclrtFree(device));
  return End();
}
