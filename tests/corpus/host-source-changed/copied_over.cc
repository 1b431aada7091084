// memcpy puts the next piece into the buffer.
// expect: host-source-changed
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  static char next[kBytes];
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));  // first
  std::memcpy(source, next, kBytes);                                       // BUG
  OK(aclrtSynchronizeStream(stream));
}
