// The target is cleared after the copy was queued, not before.
// expect: host-target-early
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory result;
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));  // first
  std::memset(result, 0, kBytes);                                         // BUG
  OK(aclrtSynchronizeStream(stream));
}
