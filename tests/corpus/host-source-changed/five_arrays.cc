// Five pinned arrays are refilled for the second step while the copies of the first may run.
// expect: host-source-changed*5
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory inputs[5];
  PinnedMemory tokens(4096), positions(4096), slots(4096), lengths(4096), tables(4096);
  for (int step = 0; step < 2; ++step) {
    tokens[0] = 1;                                                              // BUG
    positions[8] = 2;                                                           // BUG
    slots[16] = 3;                                                              // BUG
    lengths[24] = 4;                                                            // BUG
    tables[4095] = 5;                                                           // BUG
    OK(aclrtMemcpyAsync(inputs[0], 4096, tokens, 4096, kToDevice, stream));     // first
    OK(aclrtMemcpyAsync(inputs[1], 4096, positions, 4096, kToDevice, stream));  // first
    OK(aclrtMemcpyAsync(inputs[2], 4096, slots, 4096, kToDevice, stream));      // first
    OK(aclrtMemcpyAsync(inputs[3], 4096, lengths, 4096, kToDevice, stream));    // first
    OK(aclrtMemcpyAsync(inputs[4], 4096, tables, 4096, kToDevice, stream));     // first
  }
  OK(aclrtSynchronizeStream(stream));
}
