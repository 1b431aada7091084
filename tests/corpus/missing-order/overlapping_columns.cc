// Two streams upload column blocks of one matrix that overlap by 16 bytes in every row.
// expect: missing-order
// check: full
#include "../corpus.h"

constexpr size_t kPitch = 256, kRows = 100;

int main() {
  Device device;
  Stream left, right;
  DeviceMemory matrix;
  PinnedMemory source;
  OK(aclrtMemcpy2dAsync(matrix, kPitch, source, kPitch, 128, kRows, kToDevice, left));         // first
  OK(aclrtMemcpy2dAsync(matrix + 112, kPitch, source, kPitch, 128, kRows, kToDevice, right));  // BUG
  OK(aclrtSynchronizeStream(left));
  OK(aclrtSynchronizeStream(right));
}
