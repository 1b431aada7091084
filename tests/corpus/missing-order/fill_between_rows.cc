// A fill clears the padding of one row while another stream uploads the rows.
// expect: none
// check: full
#include "../corpus.h"

constexpr size_t kPitch = 512, kWidth = 100, kRows = 100;

int main() {
  Device device;
  Stream upload, fill;
  DeviceMemory matrix;
  PinnedMemory source;
  OK(aclrtMemcpy2dAsync(matrix, kPitch, source, kPitch, kWidth, kRows, kToDevice, upload));
  OK(aclrtMemsetAsync(matrix + 50 * kPitch + kWidth, kPitch, 0, kPitch - kWidth, fill));
  OK(aclrtSynchronizeStream(upload));
  OK(aclrtSynchronizeStream(fill));
}
