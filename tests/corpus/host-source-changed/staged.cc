// A copy of the kind that takes the bytes during the call leaves the buffer free.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream));
  std::memset(source, 1, kBytes);
  OK(aclrtSynchronizeStream(stream));
}
