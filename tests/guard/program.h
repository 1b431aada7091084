// What the programs share: a stream, device bytes, pinned host bytes, checked calls.
//
// A program is built twice. With BAD it makes the mistake: a line that ends in "// BUG ID: NAME" is where the
// finding must point, and the line that ends in "// NAME here" submitted the copy. Without it the same work
// is done right.
#pragma once

#include <acl/acl.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

inline int g_failures = 0;

#define EXPECT_OK(call)                                                     \
  do {                                                                      \
    if (const aclError code_ = (call); code_ != ACL_SUCCESS) {              \
      std::printf("%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, code_); \
      ++g_failures;                                                         \
    }                                                                       \
  } while (0)
#define EXPECT_TRUE(condition)                                             \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      ++g_failures;                                                        \
    }                                                                      \
  } while (0)

constexpr size_t kBytes = size_t{64} << 10;
constexpr aclrtMemcpyKind kUp = ACL_MEMCPY_HOST_TO_DEVICE, kDown = ACL_MEMCPY_DEVICE_TO_HOST;

inline void Begin() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
}

inline aclrtStream g_streams[4];
inline int g_stream_count = 0;

// Until the end.
inline aclrtStream NewStream() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  return g_streams[g_stream_count++] = stream;
}

inline int End() {
  while (g_stream_count > 0) EXPECT_OK(aclrtDestroyStream(g_streams[--g_stream_count]));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  if (g_failures == 0) std::puts("ok");
  return g_failures == 0 ? 0 : 1;
}

inline unsigned char* NewDevice(size_t bytes = kBytes) {
  void* device = nullptr;
  EXPECT_OK(aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(device, bytes, 1, bytes));
  return static_cast<unsigned char*>(device);
}

inline unsigned char* NewPinned(size_t bytes = kBytes) {
  void* host = nullptr;
  EXPECT_OK(aclrtMallocHost(&host, bytes));
  std::memset(host, 0, bytes);
  return static_cast<unsigned char*>(host);
}

// A byte of the device, fetched at once into memory that nobody guards.
inline int Fetched(const unsigned char* device, size_t at = 0) {
  unsigned char byte = 0;
  EXPECT_OK(aclrtMemcpy(&byte, 1, device + at, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  return byte;
}
