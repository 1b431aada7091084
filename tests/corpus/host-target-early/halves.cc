// While the second half may still be on its way, the host reads the first, which it waited for.
// expect: none
// check: full
#include "../corpus.h"

constexpr size_t kHalf = 3000;

int main() {
  Device device;
  Stream stream;
  Event first_half;
  DeviceMemory output;
  PinnedMemory result;
  OK(aclrtMemsetAsync(output, kBytes, 'a', kBytes, stream));
  OK(aclrtMemcpyAsync(result, kHalf, output, kHalf, kToHost, stream));
  OK(aclrtRecordEvent(first_half, stream));
  OK(aclrtMemcpyAsync(result + kHalf, kHalf, output + kHalf, kHalf, kToHost, stream));
  OK(aclrtSynchronizeEvent(first_half));
  const bool right = result[0] == 'a' && result[kHalf - 1] == 'a';
  OK(aclrtSynchronizeStream(stream));
  return right ? 0 : 1;
}
