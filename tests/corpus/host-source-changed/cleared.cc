// memset clears the buffer.
// expect: host-source-changed
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));  // first
  std::memset(source, 0, kBytes);                                          // BUG
  OK(aclrtSynchronizeStream(stream));
}
