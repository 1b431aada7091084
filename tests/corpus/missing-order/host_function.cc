// A host function sets a condition variable; the thread that waited for it gives another stream its work.
// expect: none
// check: full
#include "../corpus.h"
#include "../signal.h"

int main() {
  Device device;
  Stream producer, consumer;
  DeviceMemory buffer;
  PinnedMemory result;
  Signal done;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));
  OK(aclrtLaunchHostFunc(producer, Signal::Set, &done));
  done.Wait();
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
  return result[0] == 'a' ? 0 : 1;
}
