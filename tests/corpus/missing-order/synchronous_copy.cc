// A synchronous copy is taken for one that waits for the streams.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory buffer;
  static char result[kBytes];
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, stream));  // first
  OK(aclrtMemcpy(result, kBytes, buffer, kBytes, kToHost));   // BUG
  OK(aclrtSynchronizeStream(stream));
}
