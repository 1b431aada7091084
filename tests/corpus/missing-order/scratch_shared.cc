// Two streams use one scratch buffer.
// expect: missing-order*2
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream one, other;
  DeviceMemory scratch, first, second;
  OK(aclrtMemsetAsync(scratch, kBytes, 'a', kBytes, one));                  // first
  OK(aclrtMemcpyAsync(first, kBytes, scratch, kBytes, kOnDevice, one));     // first
  OK(aclrtMemsetAsync(scratch, kBytes, 'b', kBytes, other));                // BUG
  OK(aclrtMemcpyAsync(second, kBytes, scratch, kBytes, kOnDevice, other));  // BUG
  OK(aclrtSynchronizeStream(one));
  OK(aclrtSynchronizeStream(other));
}
