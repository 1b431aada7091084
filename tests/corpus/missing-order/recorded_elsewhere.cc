// The event is recorded in a second stream before the wait, which forgets the record of the first.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, other, consumer;
  Event done;
  DeviceMemory buffer, unrelated;
  PinnedMemory result;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));  // first
  OK(aclrtRecordEvent(done, producer));
  OK(aclrtMemsetAsync(unrelated, kBytes, 'b', kBytes, other));
  OK(aclrtRecordEvent(done, other));
  OK(aclrtStreamWaitEvent(consumer, done));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));  // BUG
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
}
