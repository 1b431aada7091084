// Double buffering with both waits.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream upload, work;
  Event filled[2], consumed[2];
  DeviceMemory buffer[2], output;
  for (int round = 0; round < 6; ++round) {
    const int side = round % 2;
    if (round >= 2) OK(aclrtStreamWaitEvent(upload, consumed[side]));
    OK(aclrtMemsetAsync(buffer[side], kBytes, round, kBytes, upload));
    OK(aclrtRecordEvent(filled[side], upload));
    OK(aclrtStreamWaitEvent(work, filled[side]));
    OK(aclrtMemcpyAsync(output, kBytes, buffer[side], kBytes, kOnDevice, work));
    OK(aclrtRecordEvent(consumed[side], work));
  }
  OK(aclrtSynchronizeStream(work));
}
