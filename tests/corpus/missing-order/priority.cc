// A higher priority is taken for an order.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  aclrtStream urgent = nullptr, usual = nullptr;
  OK(aclrtCreateStreamWithConfig(&urgent, 0, 0));
  OK(aclrtCreateStreamWithConfig(&usual, 7, 0));
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, urgent));             // first
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, usual));  // BUG
  OK(aclrtSynchronizeStream(usual));
  OK(aclrtSynchronizeStream(urgent));
  OK(aclrtDestroyStream(usual));
  OK(aclrtDestroyStream(urgent));
}
