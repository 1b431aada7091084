// Five arrays with two sets of buffers, each refilled only after the event of its last use.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory inputs[5];
  PinnedMemory arrays[2][5];
  Event used[2];
  for (int step = 0; step < 6; ++step) {
    const int set = step % 2;
    if (step >= 2) OK(aclrtSynchronizeEvent(used[set]));
    for (int i = 0; i < 5; ++i) {
      std::memset(arrays[set][i], step, kBytes);
      OK(aclrtMemcpyAsync(inputs[i], kBytes, arrays[set][i], kBytes, kToDevice, stream));
    }
    OK(aclrtRecordEvent(used[set], stream));
  }
  OK(aclrtSynchronizeStream(stream));
}
