// The result is read before the stream is synchronised.
// expect: host-target-early
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory result;
  OK(aclrtMemsetAsync(output, kBytes, 'a', kBytes, stream));
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));  // first
  std::printf("%d\n", result[0]);                                         // BUG
  OK(aclrtSynchronizeStream(stream));
}
