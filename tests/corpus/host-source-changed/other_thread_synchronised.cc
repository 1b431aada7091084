// Another host thread synchronises; the first one joins it and changes the source.
// expect: none
// check: full
#include "../workers.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));
  InThread([&] { OK(aclrtSynchronizeStream(stream)); });
  source[1] = 1;
}
