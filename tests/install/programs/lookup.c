// In the style of memfabric: opens the library and wants eleven names beside the public ones; then copies
// with one of them.
#include <acl/acl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char* const kNames[] = {"rtDeviceGetBareTgid",
                                     "rtGetDeviceInfo",
                                     "rtSetIpcMemorySuperPodPid",
                                     "rtIpcSetMemoryName",
                                     "rtEnableP2P",
                                     "rtDisableP2P",
                                     "rtIpcDestroyMemoryName",
                                     "rtIpcOpenMemory",
                                     "rtIpcCloseMemory",
                                     "rtGetLogicDevIdByUserDevId",
                                     "rtMemcpyAsyncWithoutCheckKind"};

#define CHECK(call, expected)                                       \
  do {                                                              \
    const int code = (int)(call);                                   \
    if (code != (expected)) {                                       \
      printf("%s:%d: %s is %d\n", __FILE__, __LINE__, #call, code); \
      return 1;                                                     \
    }                                                               \
  } while (0)

typedef aclError (*Copy)(void*, size_t, const void*, size_t, int, aclrtStream);
typedef aclError (*Enable)(unsigned, unsigned, unsigned);

int main(void) {
  char received[100];
  char* sent = NULL;
  void* memory = NULL;
  Copy copy = NULL;
  Enable enable = NULL;
  void* library = dlopen("libascendcl.so", RTLD_NOW);
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; ++i) {
    void* found = library != NULL ? dlsym(library, kNames[i]) : NULL;
    if (found == NULL) {
      printf("no name %s\n", kNames[i]);
      return 1;
    }
    if (strcmp(kNames[i], "rtMemcpyAsyncWithoutCheckKind") == 0) memcpy(&copy, &found, sizeof found);
    if (strcmp(kNames[i], "rtEnableP2P") == 0) memcpy(&enable, &found, sizeof found);
  }
  CHECK(aclInit(NULL), 0);
  CHECK(aclrtSetDevice(0), 0);
  CHECK(aclrtMalloc(&memory, sizeof received, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  CHECK(aclrtMallocHost((void**)&sent, sizeof received), 0);
  for (size_t i = 0; i < sizeof received; ++i) sent[i] = (char)(7 * i);
  // The kind says the wrong way, and nobody checks it.
  CHECK(copy(memory, sizeof received, sent, sizeof received, ACL_MEMCPY_DEVICE_TO_HOST, NULL), 0);
  CHECK(copy(memory, 1, sent, sizeof received, ACL_MEMCPY_HOST_TO_DEVICE, NULL), ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtSynchronizeDevice(), 0);
  CHECK(aclrtMemcpy(received, sizeof received, memory, sizeof received, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  CHECK(memcmp(sent, received, sizeof received), 0);
  CHECK(enable(1, 0, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  CHECK(aclrtFreeHost(sent), 0);
  CHECK(aclrtFree(memory), 0);
  CHECK(aclrtResetDevice(0), 0);
  CHECK(aclFinalize(), 0);
  puts("bytes verified");
  return 0;
}
