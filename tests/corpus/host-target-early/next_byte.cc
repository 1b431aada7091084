// Neighbours of the target on the same page are read and written while the copy may run.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory page(4096);
  OK(aclrtMemsetAsync(output, kBytes, 'a', kBytes, stream));
  OK(aclrtMemcpyAsync(page + 1024, 1024, output, 1024, kToHost, stream));
  page[1023] = 1;
  const bool untouched = page[2048] == 0;
  OK(aclrtSynchronizeStream(stream));
  return untouched && page[1023] == 1 && page[1024] == 'a' && page[2047] == 'a' ? 0 : 1;
}
