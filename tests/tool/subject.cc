// What the tool's tests run: one mode a behaviour. Plain C++ that knows the C ABI only.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "acl/acl.h"

namespace {

constexpr int32_t kNoSuchDevice = 9999;

// Says "ready", then what reaches it, until SIGTERM.
int TellSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  puts("ready");
  for (int signal = 0; sigwait(&set, &signal) == 0;) {
    printf("got %d\n", signal);
    if (signal == SIGTERM) return 9;
  }
  return 1;
}

// Asynchronous copies: `count` from and to pinned and registered memory, which somebody could guard, and some
// that nobody needs to.
void CopyAsynchronously(int count) {
  constexpr size_t kBytes = 4096;
  alignas(4096) static char registered[kBytes];
  static char pageable[kBytes];
  void *device = nullptr, *other = nullptr, *pinned = nullptr, *mapped = nullptr;
  aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&other, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMallocHost(&pinned, kBytes);
  aclrtHostRegister(registered, kBytes, ACL_HOST_REGISTER_MAPPED, &mapped);
  aclrtMemset(device, kBytes, 0, kBytes);
  for (int i = 0; i < count; ++i) {
    void* host = i % 2 == 0 ? pinned : registered;
    if (i % 3 == 0) {
      aclrtMemcpy2dAsync(host, 64, device, 64, 8, 4, ACL_MEMCPY_DEVICE_TO_HOST, nullptr);
    } else {
      aclrtMemcpyAsync(host, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, nullptr);
    }
    aclrtMemcpyAsync(other, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr);
    aclrtMemcpyAsync(pageable, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, nullptr);
  }
  aclrtSynchronizeStream(nullptr);
  aclrtHostUnregister(registered);
  aclrtFreeHost(pinned);
  aclrtFree(other);
  aclrtFree(device);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "ok";
  const char* value = argc > 2 ? argv[2] : "";
  setvbuf(stdout, nullptr, _IOLBF, 0);
  if (mode == "load-only") return 0;
  aclInit(nullptr);
  if (mode == "exit") return atoi(value);
  if (mode == "devices") {
    uint32_t count = 0;
    aclrtGetDeviceCount(&count);
    printf("%u\n", count);
  }
  if (mode == "stream") {
    aclrtStream stream = nullptr;
    int32_t id = -1;
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    aclrtSetDevice(0);
    aclrtCreateStream(&stream);
    aclrtStreamGetId(stream, &id);
    aclrtStreamQuery(stream, &status);
    aclrtDestroyStream(stream);
    aclrtGetDevice(nullptr);
  }
  if (mode == "signals") return TellSignals();
  if (mode == "wait") {
    puts("ready");
    while (true) pause();
  }
  if (mode == "chdir" && chdir(value) != 0) return 1;
  if (mode == "environment") puts(getenv(value) != nullptr ? getenv(value) : "(none)");
  if (mode == "bad" || mode == "abort" || mode == "kill") aclrtSetDevice(kNoSuchDevice);
  if (mode == "abort") abort();
  if (mode == "kill") raise(SIGKILL);
  aclrtSetDevice(0);
  if (mode == "copies") CopyAsynchronously(atoi(value));
  aclrtResetDevice(0);
  aclFinalize();
  puts("done");
  return 0;
}
