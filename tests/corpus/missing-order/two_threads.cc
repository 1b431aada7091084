// Two host threads, each with a stream of its own, fill one shared buffer.
// expect: missing-order
// check: full
#include "../workers.h"

int main() {
  Device device;
  Stream stream[2];
  DeviceMemory shared;
  InTwoThreads([&](int number) {
    OK(aclrtMemsetAsync(shared, kBytes, number, kBytes, stream[number]));  // first  // BUG
  });
  for (const Stream& each : stream) OK(aclrtSynchronizeStream(each));
}
