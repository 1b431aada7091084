#pragma once
// What the programs share: checks that end the process at once, memory, and a condition variable that user
// code signals.
//
// Guarantees: a failed check and a program that takes more than twenty seconds exit with a failure, without
// running destructors that could hang.

#include <acl/acl.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      std::fflush(stdout);                                                 \
      _exit(1);                                                            \
    }                                                                      \
  } while (0)
#define CODE(expected, call)                                                            \
  do {                                                                                  \
    const aclError code_ = (call);                                                      \
    if (code_ != (expected)) {                                                          \
      std::printf("%s:%d: %s gave %d, expected %d\n", __FILE__, __LINE__, #call, code_, \
                  static_cast<int>(expected));                                          \
      std::fflush(stdout);                                                              \
      _exit(1);                                                                         \
    }                                                                                   \
  } while (0)
#define OK(call) CODE(ACL_SUCCESS, call)

namespace program {

inline void Hangs(int) {
  constexpr char kText[] = "the program hangs\n";
  if (write(STDOUT_FILENO, kText, sizeof(kText) - 1) < 0) _exit(2);
  _exit(3);
}

constexpr unsigned kPatienceSeconds = 90;
inline void SetWatchdog() {
  signal(SIGALRM, Hangs);
  alarm(kPatienceSeconds);
}

// Starts the watchdog and the runtime, and selects device 0.
inline void Begin() {
  SetWatchdog();
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
}
inline void End() {
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
}

inline uint8_t* Pinned(size_t size, uint8_t value) {
  void* memory = nullptr;
  OK(aclrtMallocHost(&memory, size));
  memset(memory, value, size);
  return static_cast<uint8_t*>(memory);
}
inline uint8_t* OnDevice(size_t size, uint8_t value) {
  void* memory = nullptr;
  OK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemset(memory, size, value, size));
  return static_cast<uint8_t*>(memory);
}
inline aclrtStream NewStream() {
  aclrtStream stream = nullptr;
  OK(aclrtCreateStream(&stream));
  return stream;
}

// Pinned bytes that go to the device and come back to other pinned bytes.
class RoundTrip {
 public:
  RoundTrip(size_t size, uint32_t seed)
      : size_(size), source_(Pinned(size, 0)), target_(Pinned(size, kUnwritten)), block_(OnDevice(size, 1)) {
    for (size_t i = 0; i < size; ++i) source_[i] = static_cast<uint8_t>((i * 31 + i / 251 + seed) | 1);
  }
  ~RoundTrip() {
    OK(aclrtFreeHost(source_));
    OK(aclrtFreeHost(target_));
    OK(aclrtFree(block_));
  }
  RoundTrip(const RoundTrip&) = delete;
  RoundTrip& operator=(const RoundTrip&) = delete;

  void Out(aclrtStream stream) {
    OK(aclrtMemcpyAsync(block_, size_, source_, size_, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  }
  void Back(aclrtStream stream) {
    OK(aclrtMemcpyAsync(target_, size_, block_, size_, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
  // These look at host memory and call nothing.
  bool Arrived() const { return memcmp(source_, target_, size_) == 0; }
  bool Untouched() const { return target_[0] == kUnwritten && memcmp(target_, target_ + 1, size_ - 1) == 0; }

 private:
  static constexpr uint8_t kUnwritten = 0xee;
  const size_t size_;
  uint8_t *const source_, *const target_, *const block_;
};

// What user code of a stream tells the main thread, outside the API.
class Signal {
 public:
  void Set() {
    const std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return set_; });  // woken by Set
  }
  bool is_set() {
    const std::lock_guard lock(mutex_);
    return set_;
  }
  // As a host function or callback.
  static void Body(void* signal) { static_cast<Signal*>(signal)->Set(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

}  // namespace program
