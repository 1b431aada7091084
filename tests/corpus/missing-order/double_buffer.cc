// Double buffering: the upload waits for the consumer of the first buffer and forgets that of the second.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream upload, work;
  Event filled[2], consumed[2];
  DeviceMemory buffer[2], output;
  for (int round = 0; round < 6; ++round) {
    const int side = round % 2;
    if (round >= 2 && side == 0) OK(aclrtStreamWaitEvent(upload, consumed[side]));
    if (side == 0) OK(aclrtMemsetAsync(buffer[0], kBytes, round, kBytes, upload));
    if (side == 1) OK(aclrtMemsetAsync(buffer[1], kBytes, round, kBytes, upload));  // BUG
    OK(aclrtRecordEvent(filled[side], upload));
    OK(aclrtStreamWaitEvent(work, filled[side]));
    OK(aclrtMemcpyAsync(output, kBytes, buffer[side], kBytes, kOnDevice, work));  // first
    OK(aclrtRecordEvent(consumed[side], work));
  }
  OK(aclrtSynchronizeStream(work));
}
