// The host waits for an event, but the fill whose bytes it copies is queued behind the record.
// expect: missing-order
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
  OK(aclrtMemsetAsync(other, kBytes, 'b', kBytes, stream));  // first
  OK(aclrtSynchronizeEvent(filled));
  OK(aclrtMemcpy(result, kBytes, other, kBytes, kToHost));  // BUG
  OK(aclrtSynchronizeStream(stream));
}
