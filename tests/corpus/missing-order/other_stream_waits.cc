// A third stream waits for the event; the one that reads does not.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer, bystander;
  Event filled;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));  // first
  OK(aclrtRecordEvent(filled, producer));
  OK(aclrtStreamWaitEvent(bystander, filled));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));  // BUG
  OK(aclrtSynchronizeStream(bystander));
  OK(aclrtSynchronizeStream(consumer));
}
