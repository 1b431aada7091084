// The middle stream of a chain records before it waits, so what came before it is not in its event.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream load, work, store;
  Event loaded, worked;
  DeviceMemory input;
  PinnedMemory result;
  OK(aclrtMemsetAsync(input, kBytes, 'a', kBytes, load));  // first
  OK(aclrtRecordEvent(loaded, load));
  OK(aclrtRecordEvent(worked, work));
  OK(aclrtStreamWaitEvent(work, loaded));
  OK(aclrtStreamWaitEvent(store, worked));
  OK(aclrtMemcpyAsync(result, kBytes, input, kBytes, kToHost, store));  // BUG
  OK(aclrtSynchronizeStream(store));
  OK(aclrtSynchronizeStream(work));
}
