// The host function that announces the fill is queued before it.
// expect: missing-order
// check: full
#include "../corpus.h"
#include "../signal.h"

int main() {
  Device device;
  Stream producer, consumer;
  DeviceMemory buffer;
  PinnedMemory result;
  Signal done;
  OK(aclrtLaunchHostFunc(producer, Signal::Set, &done));
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));  // first
  done.Wait();
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));  // BUG
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
}
