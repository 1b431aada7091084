// Two host threads fill one buffer in one stream: in whatever order they come, one is after the other.
// expect: none
// check: full
#include "../workers.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory shared;
  InTwoThreads([&](int number) {
    for (int round = 0; round < 100; ++round) OK(aclrtMemsetAsync(shared, kBytes, number, kBytes, stream));
  });
  OK(aclrtSynchronizeStream(stream));
}
