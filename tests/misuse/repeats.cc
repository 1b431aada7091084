// The same mistake a thousand times at one place and once at another.
#include "acl/acl.h"

int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  char byte = 0;
  for (int i = 0; i < 1000; ++i) {
    aclrtMemcpy(&byte, 0, &byte, 1, ACL_MEMCPY_HOST_TO_HOST);
  }
  aclrtMemcpy(&byte, 0, &byte, 1, ACL_MEMCPY_HOST_TO_HOST);
  aclrtResetDevice(0);
  aclFinalize();
  return 0;
}
