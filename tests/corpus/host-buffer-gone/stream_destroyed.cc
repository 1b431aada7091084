// Destroying the stream waits for its copy; then the buffer may go.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  DeviceMemory input;
  void* source = nullptr;
  OK(aclrtMallocHost(&source, kBytes));
  std::memset(source, 'a', kBytes);
  {
    Stream stream;
    OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));
  }
  OK(aclrtFreeHost(source));
}
