// One byte is changed: the last one of a range that ends in the middle of a page.
// expect: host-source-changed
// check: full
#include "../corpus.h"

constexpr size_t kCount = 5000;

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  OK(aclrtMemcpyAsync(input, kBytes, source, kCount, kToDevice, stream));  // first
  source[kCount - 1] = 1;                                                  // BUG
  OK(aclrtSynchronizeStream(stream));
}
