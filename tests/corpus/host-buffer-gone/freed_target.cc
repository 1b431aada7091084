// A result buffer that nobody wants is freed while the copy into it may run.
// expect: host-buffer-gone
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  void* result = nullptr;
  OK(aclrtMallocHost(&result, kBytes));
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));  // first
  OK(aclrtFreeHost(result));                                              // BUG
  OK(aclrtSynchronizeStream(stream));
}
