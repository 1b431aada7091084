// The event is recorded early and again after the fill: the wait is bound to the second record.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  Event filled;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtRecordEvent(filled, producer));
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));
  OK(aclrtRecordEvent(filled, producer));
  OK(aclrtStreamWaitEvent(consumer, filled));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));
  OK(aclrtSynchronizeStream(consumer));
  return result[0] == 'a' ? 0 : 1;
}
