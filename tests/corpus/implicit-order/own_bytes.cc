// The program reads a pageable result right after the call that fetched it, which waited.
// expect: none
// check: full,-slow-pattern
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory buffer;
  static char result[kBytes];
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, stream));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, stream));
  const bool right = result[kBytes - 1] == 'a';
  OK(aclrtSynchronizeStream(stream));
  return right ? 0 : 1;
}
