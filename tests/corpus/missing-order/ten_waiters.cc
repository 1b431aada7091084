// Ten streams wait for one event and read what it stands for.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream producer, consumer[10];
  Event filled;
  DeviceMemory buffer;
  PinnedMemory result(10 * kBytes);
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, producer));
  OK(aclrtRecordEvent(filled, producer));
  for (int i = 0; i < 10; ++i) {
    OK(aclrtStreamWaitEvent(consumer[i], filled));
    OK(aclrtMemcpyAsync(result + i * kBytes, kBytes, buffer, kBytes, kToHost, consumer[i]));
  }
  for (const Stream& each : consumer) OK(aclrtSynchronizeStream(each));
  return result[0] == 'a' && result[10 * kBytes - 1] == 'a' ? 0 : 1;
}
