// The event that the host waits for was recorded before the copy.
// expect: host-source-changed
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  Event copied;
  DeviceMemory input;
  PinnedMemory source;
  OK(aclrtRecordEvent(copied, stream));
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));  // first
  OK(aclrtSynchronizeEvent(copied));
  source[0] = 1;  // BUG
  OK(aclrtSynchronizeStream(stream));
}
