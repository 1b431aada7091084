// Bytes between the rows of a queued 2D copy are changed: they belong to nobody.
// expect: none
// check: full
#include "../corpus.h"

constexpr size_t kPitch = 600, kWidth = 500, kRows = 100;

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory image;
  OK(aclrtMemcpy2dAsync(input, kWidth, image, kPitch, kWidth, kRows, kToDevice, stream));
  for (size_t row = 0; row < kRows; ++row) std::memset(image + row * kPitch + kWidth, 1, kPitch - kWidth);
  OK(aclrtSynchronizeStream(stream));
}
