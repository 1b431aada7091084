// The host waits for an event, then copies synchronously while later work may run.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  Event filled;
  DeviceMemory buffer, other;
  static char result[kBytes];
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, stream));
  OK(aclrtRecordEvent(filled, stream));
  OK(aclrtMemsetAsync(other, kBytes, 'b', kBytes, stream));
  OK(aclrtSynchronizeEvent(filled));
  OK(aclrtMemcpy(result, kBytes, buffer, kBytes, kToHost));
  OK(aclrtSynchronizeStream(stream));
  return result[0] == 'a' ? 0 : 1;
}
