// leaves_closed LIBRARY: opens the library, closes it while a host function is inside user code and copies
// are queued behind it, lets the function go, and opens the library again to see that all was done.
#include <dlfcn.h>

#include "tasks.h"

namespace {

template <class Function>
Function* Name(void* library, const char* name) {
  void* found = dlsym(library, name);
  CHECK(found != nullptr);
  Function* function;
  memcpy(&function, &found, sizeof(function));
  return function;
}
#define NAME(library, function) Name<decltype(function)>(library, #function)

void* Open(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::puts(dlerror());
  CHECK(library != nullptr);
  return library;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace program;
  CHECK(argc == 2);
  SetWatchdog();
  constexpr size_t kSize = size_t{1} << 20;
  void *source = nullptr, *target = nullptr, *block = nullptr;
  aclrtStream stream = nullptr;
  Gate gate;
  Signal last;
  {
    void* library = Open(argv[1]);
    OK(NAME(library, aclInit)(nullptr));
    OK(NAME(library, aclrtSetDevice)(0));
    OK(NAME(library, aclrtCreateStream)(&stream));
    for (void** host : {&source, &target}) OK(NAME(library, aclrtMallocHost)(host, kSize));
    OK(NAME(library, aclrtMalloc)(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
    memset(source, 0x3c, kSize);
    memset(target, 0, kSize);
    auto* launch = NAME(library, aclrtLaunchHostFunc);
    auto* copy = NAME(library, aclrtMemcpyAsync);
    OK(launch(stream, Gate::Body, &gate));
    OK(copy(block, kSize, source, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(copy(target, kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(launch(stream, Signal::Body, &last));
    gate.entered.Wait();
    CHECK(dlclose(library) == 0);
  }
  gate.go.Set();
  last.Wait();
  CHECK(memcmp(source, target, kSize) == 0);
  {
    void* library = Open(argv[1]);
    OK(NAME(library, aclrtSynchronizeStream)(stream));
    OK(NAME(library, aclrtDestroyStream)(stream));
    // Closed for good with a function inside user code, which goes on until the process ends.
    OK(NAME(library, aclrtCreateStream)(&stream));
    auto* endless = new Gate;
    OK(NAME(library, aclrtLaunchHostFunc)(stream, Gate::Body, endless));
    endless->entered.Wait();
    CHECK(dlclose(library) == 0);
  }
  return 0;
}
