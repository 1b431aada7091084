// One of ten reading streams is left out of the loop that waits.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer[10];
  Event filled;
  DeviceMemory buffer;
  PinnedMemory result(10 * kBytes);
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));  // first
  OK(aclrtRecordEvent(filled, producer));
  for (int i = 0; i < 9; ++i) OK(aclrtStreamWaitEvent(consumer[i], filled));
  for (int i = 0; i < 10; ++i) {
    OK(aclrtMemcpyAsync(result + i * kBytes, kBytes, buffer, kBytes, kToHost, consumer[i]));  // BUG
  }
  for (const Stream& each : consumer) OK(aclrtSynchronizeStream(each));
  OK(aclrtSynchronizeStream(producer));
}
