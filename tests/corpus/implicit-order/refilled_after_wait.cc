// The same with a synchronisation between them.
// expect: none
// check: full,-slow-pattern
#include "../corpus.h"

int main() {
  Device device;
  Stream fetch, fill;
  DeviceMemory buffer;
  static char result[kBytes];
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, fetch));
  OK(aclrtSynchronizeStream(fetch));
  OK(aclrtMemsetAsync(buffer, kBytes, 'b', kBytes, fill));
  OK(aclrtSynchronizeStream(fill));
}
