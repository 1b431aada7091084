// The host asks the event until it is complete; what it submits then is ordered.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  Event filled;
  DeviceMemory buffer;
  PinnedMemory result;
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));
  OK(aclrtRecordEvent(filled, producer));
  while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) OK(aclrtQueryEventStatus(filled, &status));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));
  OK(aclrtSynchronizeStream(consumer));
  return result[0] == 'a' ? 0 : 1;
}
