// Opens the library by the name that it is given, as client programs do, and counts devices.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

int main(int, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  auto count_devices = reinterpret_cast<int (*)(uint32_t*)>(dlsym(library, "aclrtGetDeviceCount"));
  uint32_t count = 0;
  if (count_devices != nullptr) count_devices(&count);
  printf("%u\n", count);
}
