// A host thread fills and ends; joining it does not wait for its stream.
// expect: missing-order
// check: full
#include "../workers.h"

int main() {
  Device device;
  Stream worker, mine;
  DeviceMemory shared;
  PinnedMemory result;
  InThread([&] {
    OK(aclrtMemsetAsync(shared, kBytes, 'a', kBytes, worker));  // first
  });
  OK(aclrtMemcpyAsync(result, kBytes, shared, kBytes, kToHost, mine));  // BUG
  OK(aclrtSynchronizeStream(mine));
  OK(aclrtSynchronizeStream(worker));
}
