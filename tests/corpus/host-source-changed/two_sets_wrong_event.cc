// Two sets of buffers, but the program waits for the event of the set that it does not refill.
// expect: host-source-changed
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream[2];
  DeviceMemory input[2];
  PinnedMemory array[2];
  Event used[2];
  for (int set = 0; set < 2; ++set) {
    OK(aclrtMemcpyAsync(input[set], kBytes, array[set], kBytes, kToDevice, stream[set]));  // first
    OK(aclrtRecordEvent(used[set], stream[set]));
  }
  OK(aclrtSynchronizeEvent(used[1]));
  array[0][100] = 1;  // BUG
  OK(aclrtSynchronizeEvent(used[0]));
}
