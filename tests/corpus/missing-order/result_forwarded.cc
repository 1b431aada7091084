// A synchronous copy takes a pinned result that may still be on its way.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output, next;
  PinnedMemory result;
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));  // first
  OK(aclrtMemcpy(next, kBytes, result, kBytes, kToDevice));               // BUG
  OK(aclrtSynchronizeStream(stream));
}
