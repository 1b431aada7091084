// Destroying a stream waits for its tasks: what comes after is ordered.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream consumer;
  DeviceMemory buffer;
  PinnedMemory result;
  {
    Stream producer;
    OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));
  }
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));
  OK(aclrtSynchronizeStream(consumer));
  return result[0] == 'a' ? 0 : 1;
}
