// The same copy by a program that is not linked against the library: it opens it (argument 1) and looks names
// up.
#include <acl/acl.h>
#include <dlfcn.h>
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

// A data pointer becomes a function pointer through a copy, which every compiler accepts.
#define LOOK_UP(name)                               \
  __typeof__(&name) p_##name = NULL;                \
  do {                                              \
    void* found = dlsym(library, #name);            \
    if (found == NULL) {                            \
      printf("no name %s: %s\n", #name, dlerror()); \
      return 1;                                     \
    }                                               \
    memcpy(&p_##name, &found, sizeof found);        \
  } while (0)

int main(int argc, char** argv) {
  char sent[100];
  char received[100];
  void* memory = NULL;
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    printf("cannot open: %s\n", argc == 2 ? dlerror() : "no argument");
    return 1;
  }
  LOOK_UP(aclInit);
  LOOK_UP(aclrtSetDevice);
  LOOK_UP(aclrtMalloc);
  LOOK_UP(aclrtMemcpy);
  LOOK_UP(aclrtFree);
  LOOK_UP(aclrtResetDevice);
  LOOK_UP(aclFinalize);
  for (int i = 0; i < 100; ++i) sent[i] = (char)(5 * i);
  memset(received, 0, sizeof received);
  CHECK(p_aclInit(NULL));
  CHECK(p_aclrtSetDevice(1));
  CHECK(p_aclrtMalloc(&memory, sizeof sent, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(p_aclrtMemcpy(memory, sizeof sent, sent, sizeof sent, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK(p_aclrtMemcpy(received, sizeof received, memory, sizeof received, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK(p_aclrtFree(memory));
  CHECK(p_aclrtResetDevice(1));
  CHECK(p_aclFinalize());
  CHECK(memcmp(sent, received, sizeof sent));
  CHECK(dlclose(library));
  puts("bytes verified");
  return 0;
}
