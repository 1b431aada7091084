// The wait is submitted before the second record and so does not see the second fill.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  Event filled;
  DeviceMemory one, two;
  PinnedMemory result;
  OK(aclrtMemsetAsync(one, kBytes, 'a', kBytes, producer));
  OK(aclrtRecordEvent(filled, producer));
  OK(aclrtStreamWaitEvent(consumer, filled));
  OK(aclrtMemsetAsync(two, kBytes, 'b', kBytes, producer));  // first
  OK(aclrtRecordEvent(filled, producer));
  OK(aclrtMemcpyAsync(result, kBytes, two, kBytes, kToHost, consumer));  // BUG
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
}
