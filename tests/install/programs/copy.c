// A small copy to a device and back, in C11 and in C++17, by linked names.
#include <acl/acl.h>
#include <stdio.h>
#include <string.h>

#define CHECK(call)                                                 \
  do {                                                              \
    const int code = (int)(call);                                   \
    if (code != 0) {                                                \
      printf("%s:%d: %s is %d\n", __FILE__, __LINE__, #call, code); \
      return 1;                                                     \
    }                                                               \
  } while (0)

int main(void) {
  char sent[100];
  char received[100];
  void* memory = NULL;
  for (int i = 0; i < 100; ++i) sent[i] = (char)(3 * i);
  memset(received, 0, sizeof received);
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(1));
  CHECK(aclrtMalloc(&memory, sizeof sent, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemcpy(memory, sizeof sent, sent, sizeof sent, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK(aclrtMemcpy(received, sizeof received, memory, sizeof received, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK(aclrtFree(memory));
  CHECK(aclrtResetDevice(1));
  CHECK(aclFinalize());
  CHECK(memcmp(sent, received, sizeof sent));
  puts("bytes verified");
  return 0;
}
