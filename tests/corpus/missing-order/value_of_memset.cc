// A stream waits for a value that aclrtMemset wrote, which order does not follow; an event orders the fills.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream a, b;
  Event filled;
  DeviceMemory block, word(8);
  OK(aclrtValueWait(word, 0, ACL_STREAM_WAIT_VALUE_EQ, a));
  OK(aclrtMemsetAsync(block, kBytes, 1, kBytes, a));
  OK(aclrtRecordEvent(filled, a));
  OK(aclrtStreamWaitEvent(b, filled));
  OK(aclrtMemsetAsync(block, kBytes, 2, kBytes, b));
  OK(aclrtSynchronizeStream(b));
}
