// Memory of the program's own, registered as pinned, is changed while its copy may run.
// expect: host-source-changed
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  RegisteredMemory source;
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));  // first
  source[kBytes / 2] = 1;                                                  // BUG
  OK(aclrtSynchronizeStream(stream));
}
