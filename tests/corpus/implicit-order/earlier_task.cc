// The copy into pageable memory waits for an earlier fill too; a synchronous copy relies on that.
// expect: implicit-order
// check: full,-slow-pattern
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory buffer, other;
  static char fetched[kBytes], result[kBytes];
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, stream));  // first
  OK(aclrtMemcpyAsync(fetched, kBytes, other, kBytes, kToHost, stream));
  OK(aclrtMemcpy(result, kBytes, buffer, kBytes, kToHost));  // BUG
  OK(aclrtSynchronizeStream(stream));
}
