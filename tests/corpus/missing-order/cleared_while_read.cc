// A buffer is cleared for the next round while another stream may still copy out of it.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream work, clear;
  DeviceMemory buffer, output;
  OK(aclrtMemcpyAsync(output, kBytes, buffer, kBytes, kOnDevice, work));  // first
  OK(aclrtMemsetAsync(buffer, kBytes, 0, kBytes, clear));                 // BUG
  OK(aclrtSynchronizeStream(work));
  OK(aclrtSynchronizeStream(clear));
}
