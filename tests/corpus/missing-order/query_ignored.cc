// A query said "not ready", and the program goes on all the same.
// expect: missing-order
// check: full
#include <belay/control.h>

#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  DeviceMemory buffer;
  PinnedMemory result;
  aclrtStreamStatus status;
  OK(belay_hold_stream(producer));
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));  // first
  OK(aclrtStreamQuery(producer, &status));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));  // BUG
  OK(belay_release_stream(producer));
  OK(aclrtSynchronizeStream(producer));
  OK(aclrtSynchronizeStream(consumer));
}
