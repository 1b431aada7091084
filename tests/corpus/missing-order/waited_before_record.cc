// The wait is submitted before the record: it passes at once.
// expect: missing-order event-misuse
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  Event filled;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtStreamWaitEvent(consumer, filled));                   // BUG: event-misuse
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));  // first
  OK(aclrtRecordEvent(filled, producer));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));  // BUG
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
}
