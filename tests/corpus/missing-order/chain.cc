// Order that goes through a third stream: load, work, store.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream load, work, store;
  Event loaded, worked;
  DeviceMemory input, output;
  PinnedMemory result;
  OK(aclrtMemsetAsync(input, kBytes, 'a', kBytes, load));
  OK(aclrtRecordEvent(loaded, load));
  OK(aclrtStreamWaitEvent(work, loaded));
  OK(aclrtMemcpyAsync(output, kBytes, input, kBytes, kOnDevice, work));
  OK(aclrtRecordEvent(worked, work));
  OK(aclrtStreamWaitEvent(store, worked));
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, store));
  OK(aclrtMemsetAsync(input, kBytes, 'b', kBytes, store));
  OK(aclrtSynchronizeStream(store));
  return result[0] == 'a' ? 0 : 1;
}
