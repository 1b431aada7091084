// A host function of another stream fills the source of a queued copy.
// expect: host-source-changed
// check: full
#include "../corpus.h"

void Fill(void* source) {
  static_cast<char*>(source)[3] = 1;  // BUG
}

int main() {
  Device device;
  Stream upload, other;
  DeviceMemory input;
  PinnedMemory source;
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, upload));  // first
  OK(aclrtLaunchHostFunc(other, Fill, static_cast<char*>(source)));
  OK(aclrtSynchronizeStream(other));
  OK(aclrtSynchronizeStream(upload));
}
