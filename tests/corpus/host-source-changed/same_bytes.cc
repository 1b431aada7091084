// The source is overwritten with the bytes that it has: the next build may write others.
// expect: host-source-changed
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));  // first
  source[5] = 0;                                                           // BUG
  OK(aclrtSynchronizeStream(stream));
}
