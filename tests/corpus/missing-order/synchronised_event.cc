// The host waits for an event before it copies synchronously; what is queued behind the event does not
// matter. expect: none check: full
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
