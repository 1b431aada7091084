// The event is destroyed once its wait is submitted: the wait keeps its record.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  DeviceMemory buffer;
  PinnedMemory result;
  aclrtEvent filled = nullptr;
  OK(aclrtCreateEvent(&filled));
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));
  OK(aclrtRecordEvent(filled, producer));
  OK(aclrtStreamWaitEvent(consumer, filled));
  OK(aclrtDestroyEvent(filled));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));
  OK(aclrtSynchronizeStream(consumer));
  return result[0] == 'a' ? 0 : 1;
}
