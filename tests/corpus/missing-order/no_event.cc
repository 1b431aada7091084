// Two streams use one buffer with nothing between them: the copy may read before the fill wrote.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));              // first
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));  // BUG
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
}
