// The same loop with a synchronisation in every round.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input, output;
  PinnedMemory batch;
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < kBytes; ++i) {
      batch[i] = static_cast<char>(round);
    }
    OK(aclrtMemcpyAsync(input, kBytes, batch, kBytes, kToDevice, stream));
    OK(aclrtMemcpyAsync(output, kBytes, input, kBytes, kOnDevice, stream));
    OK(aclrtSynchronizeStream(stream));
  }
}
