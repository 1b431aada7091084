// Bytes between the rows of a queued 2D copy are read and written.
// expect: none
// check: full
#include "../corpus.h"

constexpr size_t kPitch = 600, kWidth = 500, kRows = 100;

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory image;
  OK(aclrtMemcpy2dAsync(image, kPitch, output, kWidth, kWidth, kRows, kToHost, stream));
  int sum = 0;
  for (size_t row = 0; row + 1 < kRows; ++row) {
    sum += image[row * kPitch + kWidth];
    image[(row + 1) * kPitch - 1] = 1;
  }
  OK(aclrtSynchronizeStream(stream));
  return sum;
}
