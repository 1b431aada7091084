// A byte of a row of a queued 2D copy is read.
// expect: host-target-early
// check: full
#include "../corpus.h"

constexpr size_t kPitch = 600, kWidth = 500, kRows = 100;

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory image;
  OK(aclrtMemcpy2dAsync(image, kPitch, output, kWidth, kWidth, kRows, kToHost, stream));  // first
  const int pixel = image[99 * kPitch];                                                   // BUG
  OK(aclrtSynchronizeStream(stream));
  return pixel;
}
