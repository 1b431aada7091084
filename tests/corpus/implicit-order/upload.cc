// Another stream uses an upload from pageable memory: it is right because the copying call waits.
// expect: implicit-order
// check: full,-slow-pattern
#include "../corpus.h"

int main() {
  Device device;
  Stream upload, work;
  DeviceMemory buffer, output;
  static char source[kBytes];
  OK(aclrtMemcpyAsync(buffer, kBytes, source, kBytes, kToDevice, upload));  // first
  OK(aclrtMemcpyAsync(output, kBytes, buffer, kBytes, kOnDevice, work));    // BUG
  OK(aclrtSynchronizeStream(work));
  OK(aclrtSynchronizeStream(upload));
}
