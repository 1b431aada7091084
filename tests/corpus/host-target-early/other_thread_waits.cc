// Another host thread waits for the event before it reads the result.
// expect: none
// check: full
#include "../workers.h"

int main() {
  Device device;
  Stream stream;
  Event fetched;
  DeviceMemory output;
  PinnedMemory result;
  int sum = 1;
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));
  OK(aclrtRecordEvent(fetched, stream));
  InThread([&] {
    OK(aclrtSynchronizeEvent(fetched));
    sum = result[10];
  });
  return sum;
}
