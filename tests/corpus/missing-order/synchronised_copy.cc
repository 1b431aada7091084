// The stream is synchronised before the synchronous copy reads its result.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory buffer;
  static char result[kBytes];
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtMemcpy(result, kBytes, buffer, kBytes, kToHost));
  return result[0] == 'a' ? 0 : 1;
}
