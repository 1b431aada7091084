// Two result buffers: one is read while the copy into the other may run.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  Event fetched[2];
  DeviceMemory output;
  PinnedMemory result[2];
  int sum = 0;
  for (int round = 0; round < 10; ++round) {
    OK(aclrtMemcpyAsync(result[round % 2], kBytes, output, kBytes, kToHost, stream));
    OK(aclrtRecordEvent(fetched[round % 2], stream));
    if (round == 0) continue;
    OK(aclrtSynchronizeEvent(fetched[1 - round % 2]));
    sum += result[1 - round % 2][kBytes - 1];
  }
  OK(aclrtSynchronizeStream(stream));
  return sum;
}
