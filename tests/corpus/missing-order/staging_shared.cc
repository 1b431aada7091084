// Two streams fetch their results into one pinned staging buffer.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream one, other;
  DeviceMemory first, second;
  PinnedMemory staging;
  OK(aclrtMemcpyAsync(staging, kBytes, first, kBytes, kToHost, one));     // first
  OK(aclrtMemcpyAsync(staging, kBytes, second, kBytes, kToHost, other));  // BUG
  OK(aclrtSynchronizeStream(one));
  OK(aclrtSynchronizeStream(other));
}
