// The event is recorded before the fill that it should stand for.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  Event filled;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtRecordEvent(filled, producer));
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));  // first
  OK(aclrtStreamWaitEvent(consumer, filled));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));  // BUG
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
}
