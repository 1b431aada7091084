// The host updates parameters on the device while the step that reads them is still queued.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory parameters, output;
  static char values[256];
  for (int step = 0; step < 2; ++step) {
    values[0] = static_cast<char>(step);
    OK(aclrtMemcpy(parameters, kBytes, values, sizeof values, kToDevice));        // BUG
    OK(aclrtMemcpyAsync(output, kBytes, parameters, kBytes, kOnDevice, stream));  // first
  }
  OK(aclrtSynchronizeStream(stream));
}
