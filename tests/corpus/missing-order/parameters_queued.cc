// The parameters go through the stream that reads them, by a copy that takes the bytes during the call.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory parameters, output;
  static char values[256];
  for (int step = 0; step < 2; ++step) {
    values[0] = static_cast<char>(step);
    OK(aclrtMemcpyAsync(parameters, kBytes, values, sizeof values, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream));
    OK(aclrtMemcpyAsync(output, kBytes, parameters, kBytes, kOnDevice, stream));
  }
  OK(aclrtSynchronizeStream(stream));
}
