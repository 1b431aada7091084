// The default stream is taken for one that waits for all others.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));             // first
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, nullptr));  // BUG
  OK(aclrtSynchronizeStream(nullptr));
  OK(aclrtSynchronizeStream(producer));
}
