// Memory is unregistered after the event behind its copy.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  Event copied;
  DeviceMemory input;
  void* mapped = nullptr;
  void* const source = std::aligned_alloc(4096, kBytes);
  std::memset(source, 'a', kBytes);
  OK(aclrtHostRegister(source, kBytes, ACL_HOST_REGISTER_MAPPED, &mapped));
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));
  OK(aclrtRecordEvent(copied, stream));
  OK(aclrtSynchronizeEvent(copied));
  OK(aclrtHostUnregister(source));
  std::free(source);
  OK(aclrtSynchronizeStream(stream));
}
