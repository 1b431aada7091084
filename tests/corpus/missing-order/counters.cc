// Two counters in device memory that only grow hand one buffer to and fro.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer;
  DeviceMemory filled(64), consumed(64), buffer, output;
  for (uint64_t round = 1; round <= 10; ++round) {
    OK(aclrtValueWait(consumed, round - 1, ACL_VALUE_WAIT_GEQ, producer));
    OK(aclrtMemsetAsync(buffer, kBytes, static_cast<int32_t>(round), kBytes, producer));
    OK(aclrtValueWrite(filled, round, 0, producer));
    OK(aclrtValueWait(filled, round, ACL_VALUE_WAIT_GEQ, consumer));
    OK(aclrtMemcpyAsync(output, kBytes, buffer, kBytes, kOnDevice, consumer));
    OK(aclrtValueWrite(consumed, round, 0, consumer));
  }
  OK(aclrtSynchronizeStream(consumer));
  OK(aclrtSynchronizeStream(producer));
}
