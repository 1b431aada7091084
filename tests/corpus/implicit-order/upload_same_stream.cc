// An upload from pageable memory that is used in its own stream.
// expect: none
// check: full,-slow-pattern
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory buffer, output;
  static char source[kBytes];
  OK(aclrtMemcpyAsync(buffer, kBytes, source, kBytes, kToDevice, stream));
  OK(aclrtMemcpyAsync(output, kBytes, buffer, kBytes, kOnDevice, stream));
  OK(aclrtSynchronizeStream(stream));
}
