// A notify orders two streams, also when the wait is submitted before the record.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  Notify filled;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtWaitAndResetNotify(filled, consumer, 0));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));
  OK(aclrtRecordNotify(filled, producer));
  OK(aclrtSynchronizeStream(consumer));
  return result[0] == 'a' ? 0 : 1;
}
