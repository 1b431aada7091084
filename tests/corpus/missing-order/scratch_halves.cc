// Two streams use the two halves of one scratch buffer.
// expect: none
// check: full
#include "../corpus.h"

constexpr size_t kHalf = kBytes / 2;

int main() {
  Device device;
  Stream one, other;
  DeviceMemory scratch, first, second;
  char* const upper = scratch + kHalf;
  OK(aclrtMemsetAsync(scratch, kHalf, 'a', kHalf, one));
  OK(aclrtMemcpyAsync(first, kBytes, scratch, kHalf, kOnDevice, one));
  OK(aclrtMemsetAsync(upper, kHalf, 'b', kHalf, other));
  OK(aclrtMemcpyAsync(second, kBytes, upper, kHalf, kOnDevice, other));
  OK(aclrtSynchronizeStream(one));
  OK(aclrtSynchronizeStream(other));
}
