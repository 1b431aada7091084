// The buffer holds the right bytes from the round before, so the early read is right by chance.
// expect: host-target-early
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory result;
  OK(aclrtMemset(output, kBytes, 'a', kBytes));
  OK(aclrtMemcpy(result, kBytes, output, kBytes, kToHost));
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));  // first
  const bool right = result[kBytes - 1] == 'a';                           // BUG
  OK(aclrtSynchronizeStream(stream));
  return right ? 0 : 1;
}
