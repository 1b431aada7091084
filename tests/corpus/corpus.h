// What the corpus programs share: checked calls, objects that give back what they hold, short names.
//
// The programs call AscendCL themselves wherever a finding is expected or could be suspected: its site is
// that line.
#pragma once

#include <acl/acl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr size_t kBytes = 64 * 1024;
constexpr auto kToDevice = ACL_MEMCPY_HOST_TO_DEVICE;
constexpr auto kToHost = ACL_MEMCPY_DEVICE_TO_HOST;
constexpr auto kOnDevice = ACL_MEMCPY_DEVICE_TO_DEVICE;

inline void Check(aclError expected, aclError code, const char* call, int line) {
  if (code == expected) return;
  std::printf("line %d: %s gave %d\n", line, call, code);
  std::_Exit(1);
}
#define GIVES(code, call) Check(code, call, #call, __LINE__)
#define OK(call) GIVES(ACL_SUCCESS, call)

// Device 0 from here to the end of the scope.
struct Device {
  Device() {
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
  }
  ~Device() {
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
};

template <typename Handle, aclError (*Make)(Handle*), aclError (*Destroy)(Handle)>
class Owned {
 public:
  Owned() { OK(Make(&handle_)); }
  ~Owned() { OK(Destroy(handle_)); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator Handle() const { return handle_; }  // NOLINT(google-explicit-constructor)

 private:
  Handle handle_ = nullptr;
};

inline aclError MakeNotify(aclrtNotify* notify) {
  return aclrtCreateNotify(notify, ACL_NOTIFY_DEFAULT);
}

using Stream = Owned<aclrtStream, aclrtCreateStream, aclrtDestroyStream>;
using Event = Owned<aclrtEvent, aclrtCreateEvent, aclrtDestroyEvent>;
using Notify = Owned<aclrtNotify, MakeNotify, aclrtDestroyNotify>;

// `bytes` bytes that are 0.
inline aclError MakeDeviceMemory(void** memory, size_t bytes) {
  const aclError code = aclrtMalloc(memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  return code != ACL_SUCCESS ? code : aclrtMemset(*memory, bytes, 0, bytes);
}
inline aclError MakePinnedMemory(void** memory, size_t bytes) {
  const aclError code = aclrtMallocHost(memory, bytes);
  if (code == ACL_SUCCESS) std::memset(*memory, 0, bytes);
  return code;
}

template <aclError (*Make)(void**, size_t), aclError (*Free)(void*)>
class Memory {
 public:
  explicit Memory(size_t bytes = kBytes) { OK(Make(&memory_, bytes)); }
  ~Memory() { OK(Free(memory_)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  operator char*() const { return static_cast<char*>(memory_); }  // NOLINT(google-explicit-constructor)

 private:
  void* memory_ = nullptr;
};

using DeviceMemory = Memory<MakeDeviceMemory, aclrtFree>;
using PinnedMemory = Memory<MakePinnedMemory, aclrtFreeHost>;

// Memory of the program's own that is registered, and so counts as pinned.
inline aclError MakeRegistered(void** memory, size_t bytes) {
  *memory = std::aligned_alloc(4096, bytes);
  std::memset(*memory, 0, bytes);
  void* mapped = nullptr;
  return aclrtHostRegister(*memory, bytes, ACL_HOST_REGISTER_MAPPED, &mapped);
}
inline aclError FreeRegistered(void* memory) {
  const aclError code = aclrtHostUnregister(memory);
  std::free(memory);
  return code;
}
using RegisteredMemory = Memory<MakeRegistered, FreeRegistered>;
