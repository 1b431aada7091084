// The notify is recorded before the fill that it announces.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  Notify filled;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtRecordNotify(filled, producer));
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));  // first
  OK(aclrtWaitAndResetNotify(filled, consumer, 0));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));  // BUG
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
}
