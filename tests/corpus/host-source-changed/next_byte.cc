// The byte after the copied range is changed: a neighbour on the same page.
// expect: none
// check: full
#include "../corpus.h"

constexpr size_t kCount = 5000;

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  OK(aclrtMemcpyAsync(input, kBytes, source + 10, kCount, kToDevice, stream));
  source[9] = 1;
  source[10 + kCount] = 1;
  OK(aclrtSynchronizeStream(stream));
}
