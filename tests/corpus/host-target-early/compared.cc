// memcmp compares the result before it is there.
// expect: host-target-early
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory result;
  static const char expected[kBytes] = {};
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));   // first
  if (std::memcmp(result, expected, kBytes) != 0) std::puts("different");  // BUG
  OK(aclrtSynchronizeStream(stream));
}
