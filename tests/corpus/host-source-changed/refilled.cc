// A loop refills its pinned buffer for the next round while the copy of the last one may still run.
// expect: host-source-changed
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input, output;
  PinnedMemory batch;
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < kBytes; ++i) {
      batch[i] = static_cast<char>(round);  // BUG
    }
    OK(aclrtMemcpyAsync(input, kBytes, batch, kBytes, kToDevice, stream));  // first
    OK(aclrtMemcpyAsync(output, kBytes, input, kBytes, kOnDevice, stream));
  }
  OK(aclrtSynchronizeStream(stream));
}
