// A flag word in device memory that is written after the bytes and waited for before they are read.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  DeviceMemory flag(64), buffer;
  PinnedMemory result;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));
  OK(aclrtValueWrite(flag, 1, 0, producer));
  OK(aclrtValueWait(flag, 1, ACL_VALUE_WAIT_EQ, consumer));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, consumer));
  OK(aclrtSynchronizeStream(consumer));
  return result[0] == 'a' ? 0 : 1;
}
