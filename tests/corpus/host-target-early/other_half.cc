// The host waits for the first half and reads the first byte of the second.
// expect: host-target-early
// check: full
#include "../corpus.h"

constexpr size_t kHalf = 3000;

int main() {
  Device device;
  Stream stream;
  Event first_half;
  DeviceMemory output;
  PinnedMemory result;
  OK(aclrtMemcpyAsync(result, kHalf, output, kHalf, kToHost, stream));
  OK(aclrtRecordEvent(first_half, stream));
  OK(aclrtMemcpyAsync(result + kHalf, kHalf, output + kHalf, kHalf, kToHost, stream));  // first
  OK(aclrtSynchronizeEvent(first_half));
  const int byte = result[kHalf];  // BUG
  OK(aclrtSynchronizeStream(stream));
  return byte;
}
