// The recorded event is destroyed and made anew before the wait: the new one was never recorded.
// expect: missing-order event-misuse
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  DeviceMemory buffer;
  PinnedMemory result;
  aclrtEvent filled = nullptr;
  OK(aclrtCreateEvent(&filled));
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));  // first
  OK(aclrtRecordEvent(filled, producer));
  OK(aclrtDestroyEvent(filled));
  OK(aclrtCreateEvent(&filled));
  OK(aclrtStreamWaitEvent(consumer, filled));                               // BUG: event-misuse
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));  // BUG
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
  OK(aclrtDestroyEvent(filled));
}
