// Rows of a pageable image are uploaded in one stream and used in another.
// expect: implicit-order
// check: full,-slow-pattern
#include "../corpus.h"

constexpr size_t kPitch = 512, kWidth = 300, kRows = 100;

int main() {
  Device device;
  Stream upload, work;
  DeviceMemory buffer, output;
  static char source[kPitch * kRows];
  OK(aclrtMemcpy2dAsync(buffer, kPitch, source, kPitch, kWidth, kRows, kToDevice, upload));  // first
  OK(aclrtMemcpyAsync(output, kBytes, buffer + 10 * kPitch, kWidth, kOnDevice, work));       // BUG
  OK(aclrtSynchronizeStream(work));
  OK(aclrtSynchronizeStream(upload));
}
