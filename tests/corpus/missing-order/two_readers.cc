// Two streams read one buffer at the same time: readers need no order.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream one, other;
  DeviceMemory weights, first, second;
  OK(aclrtMemcpyAsync(first, kBytes, weights, kBytes, kOnDevice, one));
  OK(aclrtMemcpyAsync(second, kBytes, weights, kBytes, kOnDevice, other));
  OK(aclrtSynchronizeStream(one));
  OK(aclrtSynchronizeStream(other));
}
