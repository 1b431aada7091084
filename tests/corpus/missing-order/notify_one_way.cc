// Notifies say that the buffer is filled; none says that it is consumed.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  Notify filled[3];
  DeviceMemory buffer, output;
  for (int round = 0; round < 3; ++round) {
    OK(aclrtMemsetAsync(buffer, kBytes, round, kBytes, producer));  // BUG
    OK(aclrtRecordNotify(filled[round], producer));
    OK(aclrtWaitAndResetNotify(filled[round], consumer, 0));
    OK(aclrtMemcpyAsync(output, kBytes, buffer, kBytes, kOnDevice, consumer));  // first
  }
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
}
