// An event orders the default stream after another one.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer;
  Event filled;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));
  OK(aclrtRecordEvent(filled, producer));
  OK(aclrtStreamWaitEvent(nullptr, filled));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, nullptr));
  OK(aclrtSynchronizeStream(nullptr));
  return result[0] == 'a' ? 0 : 1;
}
