// Two host threads, each with a stream of its own, fill their own part of a buffer.
// expect: none
// check: full
#include "../workers.h"

int main() {
  Device device;
  Stream stream[2];
  DeviceMemory shared;
  InTwoThreads([&](int number) {
    char* const part = shared + number * (kBytes / 2);
    for (int round = 0; round < 100; ++round) {
      OK(aclrtMemsetAsync(part, kBytes / 2, round, kBytes / 2, stream[number]));
    }
    OK(aclrtSynchronizeStream(stream[number]));
  });
}
