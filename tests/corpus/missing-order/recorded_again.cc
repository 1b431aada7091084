// The event is recorded again after the wait was submitted: the wait keeps the first record.
// expect: none
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
  OK(aclrtMemsetAsync(two, kBytes, 'b', kBytes, producer));
  OK(aclrtRecordEvent(filled, producer));
  OK(aclrtMemcpyAsync(result, kBytes, one, kBytes, kToHost, consumer));
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
  return result[0] == 'a' ? 0 : 1;
}
