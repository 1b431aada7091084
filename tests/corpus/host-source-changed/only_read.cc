// The host reads the source of a queued copy: readers need no order.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));
  int sum = 0;
  for (size_t i = 0; i < kBytes; ++i) sum += source[i];
  OK(aclrtSynchronizeStream(stream));
  return sum;
}
