// Two notifies hand one buffer to and fro between two streams.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  Notify filled, consumed;
  DeviceMemory buffer, output;
  for (int round = 0; round < 10; ++round) {
    if (round > 0) OK(aclrtWaitAndResetNotify(consumed, producer, 0));
    OK(aclrtMemsetAsync(buffer, kBytes, round, kBytes, producer));
    OK(aclrtRecordNotify(filled, producer));
    OK(aclrtWaitAndResetNotify(filled, consumer, 0));
    OK(aclrtMemcpyAsync(output, kBytes, buffer, kBytes, kOnDevice, consumer));
    OK(aclrtRecordNotify(consumed, consumer));
  }
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
}
