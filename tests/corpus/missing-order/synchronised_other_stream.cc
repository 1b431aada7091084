// The host synchronises the wrong one of two streams.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream work, idle;
  DeviceMemory buffer;
  static char result[kBytes];
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, work));  // first
  OK(aclrtSynchronizeStream(idle));
  OK(aclrtMemcpy(result, kBytes, buffer, kBytes, kToHost));  // BUG
  OK(aclrtSynchronizeStream(work));
}
