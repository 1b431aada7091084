// A buffer is refilled in another stream after a copy from it into pageable memory.
// expect: implicit-order
// check: full,-slow-pattern
#include "../corpus.h"

int main() {
  Device device;
  Stream fetch, fill;
  DeviceMemory buffer;
  static char result[kBytes];
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, fetch));  // first
  OK(aclrtMemsetAsync(buffer, kBytes, 'b', kBytes, fill));               // BUG
  OK(aclrtSynchronizeStream(fill));
  OK(aclrtSynchronizeStream(fetch));
}
