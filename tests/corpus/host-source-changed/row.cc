// A byte of one row of a queued 2D copy is changed.
// expect: host-source-changed
// check: full
#include "../corpus.h"

constexpr size_t kPitch = 600, kWidth = 500, kRows = 100;

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory image;
  OK(aclrtMemcpy2dAsync(input, kWidth, image, kPitch, kWidth, kRows, kToDevice, stream));  // first
  image[50 * kPitch + kWidth - 1] = 1;                                                     // BUG
  OK(aclrtSynchronizeStream(stream));
}
