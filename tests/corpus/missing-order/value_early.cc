// The flag word is written before the bytes that it announces.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  DeviceMemory flag(64), buffer;
  PinnedMemory result;
  OK(aclrtValueWrite(flag, 1, 0, producer));
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));  // first
  OK(aclrtValueWait(flag, 1, ACL_VALUE_WAIT_EQ, consumer));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));  // BUG
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
}
