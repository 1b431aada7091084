// Registered memory of the program's own is read too early.
// expect: host-target-early
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  RegisteredMemory result;
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));  // first
  const int byte = result[kBytes - 1];                                    // BUG
  OK(aclrtSynchronizeStream(stream));
  return byte;
}
