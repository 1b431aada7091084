// A query of the waits for an event said "not ready", and the program goes on all the same.
// expect: missing-order
// check: full
#include <belay/control.h>

#include "../corpus.h"

int main() {
  Device device;
  Stream producer, waiter, consumer;
  Event filled;
  DeviceMemory buffer;
  PinnedMemory result;
  aclrtEventWaitStatus status;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));  // first
  OK(aclrtRecordEvent(filled, producer));
  OK(belay_hold_stream(waiter));
  OK(aclrtStreamWaitEvent(waiter, filled));
  OK(aclrtQueryEventWaitStatus(filled, &status));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));  // BUG
  OK(belay_release_stream(waiter));
  OK(aclrtSynchronizeDevice());
}
