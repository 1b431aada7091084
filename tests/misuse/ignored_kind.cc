// aclrtMemcpy with a kind that says the opposite of where the pointers are.
#include <cstdio>

#include "acl/acl.h"

int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  char sent = 'a', got = 0;
  void* device = nullptr;
  aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  const aclError code = aclrtMemcpy(device, 1, &sent, 1, ACL_MEMCPY_DEVICE_TO_HOST);
  aclrtMemcpy(&got, 1, device, 1, ACL_MEMCPY_DEVICE_TO_HOST);
  aclrtFree(device);
  aclrtResetDevice(0);
  aclFinalize();
  const bool ok = code == ACL_SUCCESS && got == sent;
  std::puts(ok ? "ok" : "refused, or wrong bytes");
  return ok ? 0 : 1;
}
