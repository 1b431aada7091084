// A neighbour on the page is changed, which is fine, and then the source itself.
// expect: host-source-changed
// check: full
// missed: pages are guarded, not bytes, and the first touch of a page opens it.
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  OK(aclrtMemcpyAsync(input, kBytes, source, 64, kToDevice, stream));  // first
  source[64] = 1;
  source[63] = 1;  // BUG
  OK(aclrtSynchronizeStream(stream));
}
