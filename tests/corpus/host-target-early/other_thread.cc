// Another host thread reads the result without waiting.
// expect: host-target-early
// check: full
#include "../workers.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory result;
  int sum = 0;
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));  // first
  InThread([&] {
    sum = result[10];  // BUG
  });
  OK(aclrtSynchronizeStream(stream));
  return sum;
}
