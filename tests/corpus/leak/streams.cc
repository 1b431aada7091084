// A stream for each request, and none is destroyed.
// expect: leak
// check: full
#include "../corpus.h"

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  DeviceMemory buffer;
  for (int request = 0; request < 5; ++request) {
    aclrtStream stream = nullptr;
    OK(aclrtCreateStream(&stream));  // BUG
    OK(aclrtMemsetAsync(buffer, kBytes, 0, kBytes, stream));
    OK(aclrtSynchronizeStream(stream));
  }
}
