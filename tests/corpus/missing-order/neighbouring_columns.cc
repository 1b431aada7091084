// Two streams upload the even and the odd columns of one matrix: the ranges interleave and share no byte.
// expect: none
// check: full
#include "../corpus.h"

constexpr size_t kPitch = 256, kRows = 100;

int main() {
  Device device;
  Stream left, right;
  DeviceMemory matrix;
  PinnedMemory source;
  OK(aclrtMemcpy2dAsync(matrix, kPitch, source, kPitch, 128, kRows, kToDevice, left));
  OK(aclrtMemcpy2dAsync(matrix + 128, kPitch, source, kPitch, 128, kRows, kToDevice, right));
  OK(aclrtSynchronizeStream(left));
  OK(aclrtSynchronizeStream(right));
}
