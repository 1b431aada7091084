// aclrtSynchronizeDevice waits for two streams; a third may then use what both wrote.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream one, other, reader;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes / 2, one));
  OK(aclrtMemsetAsync(buffer + kBytes / 2, kBytes / 2, 'b', kBytes / 2, other));
  OK(aclrtSynchronizeDevice());
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, reader));
  OK(aclrtSynchronizeStream(reader));
  return result[0] == 'a' && result[kBytes - 1] == 'b' ? 0 : 1;
}
