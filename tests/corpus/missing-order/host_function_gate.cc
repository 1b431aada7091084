// A host function holds the consumer back until the host has waited for the producer.
// expect: none
// check: full
#include "../corpus.h"
#include "../signal.h"

void WaitFor(void* signal) {
  static_cast<Signal*>(signal)->Wait();
}

int main() {
  Device device;
  Stream producer, consumer;
  DeviceMemory buffer;
  PinnedMemory result;
  Signal produced;
  OK(aclrtLaunchHostFunc(consumer, WaitFor, &produced));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));
  OK(aclrtSynchronizeStream(producer));
  Signal::Set(&produced);
  OK(aclrtSynchronizeStream(consumer));
  return result[0] == 'a' ? 0 : 1;
}
