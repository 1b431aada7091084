// The host synchronises another stream, which waits for an event behind the copy.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream fetch, work;
  Event fetched;
  DeviceMemory output;
  PinnedMemory result;
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, fetch));
  OK(aclrtRecordEvent(fetched, fetch));
  OK(aclrtStreamWaitEvent(work, fetched));
  OK(aclrtSynchronizeStream(work));
  const int byte = result[0];
  OK(aclrtSynchronizeStream(fetch));
  return byte;
}
