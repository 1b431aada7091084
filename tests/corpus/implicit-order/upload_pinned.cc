// The same from pinned memory, as it will be written one day: now the order is missing.
// expect: missing-order
// check: full,-slow-pattern
#include "../corpus.h"

int main() {
  Device device;
  Stream upload, work;
  DeviceMemory buffer, output;
  PinnedMemory source;
  OK(aclrtMemcpyAsync(buffer, kBytes, source, kBytes, kToDevice, upload));  // first
  OK(aclrtMemcpyAsync(output, kBytes, buffer, kBytes, kOnDevice, work));    // BUG
  OK(aclrtSynchronizeStream(work));
  OK(aclrtSynchronizeStream(upload));
}
