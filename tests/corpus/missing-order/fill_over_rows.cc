// A linear fill covers one row of a matrix that another stream uploads.
// expect: missing-order
// check: full
#include "../corpus.h"

constexpr size_t kPitch = 512, kWidth = 100, kRows = 100;

int main() {
  Device device;
  Stream upload, fill;
  DeviceMemory matrix;
  PinnedMemory source;
  OK(aclrtMemcpy2dAsync(matrix, kPitch, source, kPitch, kWidth, kRows, kToDevice, upload));  // first
  OK(aclrtMemsetAsync(matrix + 50 * kPitch, kPitch, 0, kPitch, fill));                       // BUG
  OK(aclrtSynchronizeStream(upload));
  OK(aclrtSynchronizeStream(fill));
}
