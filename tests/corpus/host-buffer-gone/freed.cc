// A pinned buffer is freed while the copy from it may run.
// expect: host-buffer-gone
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  void* source = nullptr;
  OK(aclrtMallocHost(&source, kBytes));
  std::memset(source, 'a', kBytes);
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));  // first
  OK(aclrtFreeHost(source));                                               // BUG
  OK(aclrtSynchronizeStream(stream));
}
