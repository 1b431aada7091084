// Pageable memory is changed after a copying call, which waited for its own end.
// expect: none
// check: full,-slow-pattern
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  static char source[kBytes];
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));
  std::memset(source, 1, kBytes);
  OK(aclrtSynchronizeStream(stream));
}
