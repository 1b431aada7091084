// A thread that cleans up frees the buffer without knowing of the copy.
// expect: host-buffer-gone
// check: full
#include "../workers.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  void* source = nullptr;
  OK(aclrtMallocHost(&source, kBytes));
  std::memset(source, 'a', kBytes);
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));  // first
  InThread([&] {
    OK(aclrtFreeHost(source));  // BUG
  });
  OK(aclrtSynchronizeStream(stream));
}
