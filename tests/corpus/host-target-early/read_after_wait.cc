// The result is read after the stream is synchronised.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory result;
  OK(aclrtMemsetAsync(output, kBytes, 'a', kBytes, stream));
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));
  OK(aclrtSynchronizeStream(stream));
  return result[0] == 'a' ? 0 : 1;
}
