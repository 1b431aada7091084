// A synchronous fill clears a buffer that a queued copy still reads.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, stream));  // first
  OK(aclrtMemset(buffer, kBytes, 0, kBytes));                             // BUG
  OK(aclrtSynchronizeStream(stream));
}
