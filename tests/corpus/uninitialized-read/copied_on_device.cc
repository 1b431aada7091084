// A workspace that nothing wrote is copied on the device.
// expect: uninitialized-read
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory target;
  void* workspace = nullptr;
  OK(aclrtMalloc(&workspace, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpyAsync(target, kBytes, workspace, kBytes, kOnDevice, stream));  // BUG
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtFree(workspace));
}
