// A stream for each request that is destroyed with it.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  DeviceMemory buffer;
  for (int request = 0; request < 5; ++request) {
    aclrtStream stream = nullptr;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMemsetAsync(buffer, kBytes, 0, kBytes, stream));
    OK(aclrtDestroyStream(stream));
  }
}
