// Memory is unregistered as soon as its result is queued.
// expect: host-buffer-gone
// check: full
#include "../corpus.h"

void Fetch(void* result, void* output, aclrtStream stream) {
  void* mapped = nullptr;
  OK(aclrtHostRegister(result, kBytes, ACL_HOST_REGISTER_MAPPED, &mapped));
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));  // first
  OK(aclrtHostUnregister(result));                                        // BUG
}

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  void* const result = std::aligned_alloc(4096, kBytes);
  Fetch(result, output, stream);
  OK(aclrtSynchronizeStream(stream));
  std::free(result);
}
