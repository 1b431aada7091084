// A pinned result goes back to the device in the same stream; the host need not wait for it.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output, next;
  PinnedMemory result;
  OK(aclrtMemsetAsync(output, kBytes, 'a', kBytes, stream));
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));
  OK(aclrtMemcpyAsync(next, kBytes, result, kBytes, kToDevice, stream));
  OK(aclrtSynchronizeStream(stream));
  return result[0] == 'a' ? 0 : 1;
}
