// A pinned buffer is freed after its stream is synchronised.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  void* source = nullptr;
  OK(aclrtMallocHost(&source, kBytes));
  std::memset(source, 'a', kBytes);
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtFreeHost(source));
}
