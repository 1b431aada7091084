// The host synchronises another stream than the one that copies.
// expect: host-target-early
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream fetch, work;
  DeviceMemory output;
  PinnedMemory result;
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, fetch));  // first
  OK(aclrtSynchronizeStream(work));
  const int byte = result[0];  // BUG
  OK(aclrtSynchronizeStream(fetch));
  return byte;
}
