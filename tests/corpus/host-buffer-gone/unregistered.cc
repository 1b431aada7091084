// Memory is unregistered while the copy from it may run.
// expect: host-buffer-gone
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  void* mapped = nullptr;
  void* const source = std::aligned_alloc(4096, kBytes);
  std::memset(source, 'a', kBytes);
  OK(aclrtHostRegister(source, kBytes, ACL_HOST_REGISTER_MAPPED, &mapped));
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));  // first
  OK(aclrtHostUnregister(source));                                         // BUG
  OK(aclrtSynchronizeStream(stream));
  std::free(source);
}
