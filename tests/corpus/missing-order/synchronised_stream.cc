// The host waits for the writing stream before it gives the reading one its work.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));
  OK(aclrtSynchronizeStream(producer));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));
  OK(aclrtSynchronizeStream(consumer));
  return result[0] == 'a' ? 0 : 1;
}
