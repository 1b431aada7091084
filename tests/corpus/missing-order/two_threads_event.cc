// A host thread fills and records; the main thread joins it and waits for the event.
// expect: none
// check: full
#include "../workers.h"

int main() {
  Device device;
  Stream worker, mine;
  Event filled;
  DeviceMemory shared;
  PinnedMemory result;
  InThread([&] {
    OK(aclrtMemsetAsync(shared, kBytes, 'a', kBytes, worker));
    OK(aclrtRecordEvent(filled, worker));
  });
  OK(aclrtStreamWaitEvent(mine, filled));
  OK(aclrtMemcpyAsync(result, kBytes, shared, kBytes, kToHost, mine));
  OK(aclrtSynchronizeStream(mine));
  return result[0] == 'a' ? 0 : 1;
}
