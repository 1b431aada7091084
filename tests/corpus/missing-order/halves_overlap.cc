// The halves overlap by one byte: an offset that is off by one.
// expect: missing-order
// check: full
#include "../corpus.h"

constexpr size_t kHalf = kBytes / 2;

int main() {
  Device device;
  Stream one, other;
  DeviceMemory buffer;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kHalf, one));                       // first
  OK(aclrtMemsetAsync(buffer + kHalf - 1, kHalf + 1, 'b', kHalf + 1, other));  // BUG
  OK(aclrtSynchronizeStream(one));
  OK(aclrtSynchronizeStream(other));
}
