// Two branches fetch a result; only the first one synchronises before it reads.
// expect: host-target-early
// check: full
#include "../corpus.h"

int Fetch(aclrtStream stream, void* output, char* result, bool careful) {
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));  // first
  if (careful) {
    OK(aclrtSynchronizeStream(stream));
    return result[0];
  }
  return result[0];  // BUG
}

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory result;
  Fetch(stream, output, result, true);
  Fetch(stream, output, result, false);
  OK(aclrtSynchronizeStream(stream));
}
