// std::fill fills the buffer with numbers.
// expect: host-source-changed
// check: full
#include <algorithm>

#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  float* const numbers = reinterpret_cast<float*>(static_cast<char*>(source));
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));  // first
  std::fill(numbers, numbers + kBytes / sizeof(float), 0.5F);              // BUG
  OK(aclrtSynchronizeStream(stream));
}
