// The program polls the last byte of the result instead of synchronising.
// expect: host-target-early
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory result;
  volatile char* const last = result + kBytes - 1;
  OK(aclrtMemsetAsync(output, kBytes, 'a', kBytes, stream));
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));  // first
  for (int tries = 0; tries < 1000; ++tries) {
    if (*last == 'a') break;  // BUG
  }
  OK(aclrtSynchronizeStream(stream));
}
