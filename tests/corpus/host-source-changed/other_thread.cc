// Another host thread changes the source.
// expect: host-source-changed
// check: full
#include "../workers.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));  // first
  InThread([&] {
    source[1] = 1;  // BUG
  });
  OK(aclrtSynchronizeStream(stream));
}
