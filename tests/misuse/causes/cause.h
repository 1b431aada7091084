// What the cause programs share: checked calls, bytes that go through the device, an end for programs that
// hang.
//
// A cause is one file that is built twice: with BAD it makes the mistake, without it does the same work
// right.
#pragma once

#include <acl/acl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <thread>

inline std::atomic<int> g_failures{0};

inline void Expect(aclError expected, aclError code, const char* call, int line) {
  if (code == expected) return;
  std::printf("line %d: %s gave %d, expected %d\n", line, call, code, expected);
  ++g_failures;
}
#define EXPECT_CODE(expected, call) Expect(expected, call, #call, __LINE__)
#define EXPECT_OK(call) EXPECT_CODE(ACL_SUCCESS, call)

constexpr size_t kBytes = 4096;

inline void Begin() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
}

inline int End() {
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  if (g_failures == 0) std::puts("ok");
  return g_failures == 0 ? 0 : 1;
}

// Ends with status 3 a program that would wait for ever: when Belay says so, if it runs with
// on-finding=abort, else after `seconds`.
inline void EndIfItHangs(unsigned seconds = 60) {
  for (int signal : {SIGABRT, SIGALRM}) std::signal(signal, [](int) { _exit(3); });
  alarm(seconds);
}

inline aclrtStream NewStream() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  return stream;
}

inline aclrtEvent NewEvent() {
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEvent(&event));
  return event;
}

inline aclrtEvent NewFlagEvent(uint32_t flag = ACL_EVENT_SYNC) {
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEventWithFlag(&event, flag));
  return event;
}

inline aclrtNotify NewNotify() {
  aclrtNotify notify = nullptr;
  EXPECT_OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  return notify;
}

// Bytes that are filled on the device and fetched to the host.
struct Bytes {
  void *device = nullptr, *host = nullptr;

  Bytes() {
    EXPECT_OK(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_OK(aclrtMallocHost(&host, kBytes));
    EXPECT_OK(aclrtMemset(device, kBytes, 0, kBytes));
    std::fill_n(static_cast<char*>(host), kBytes, '\0');
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  void Fill(char value, aclrtStream stream) const {
    EXPECT_OK(aclrtMemsetAsync(device, kBytes, value, kBytes, stream));
  }
  void Fetch(aclrtStream stream) const {
    EXPECT_OK(aclrtMemcpyAsync(host, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
  // The fetched bytes are these; and the memory is given back.
  void End(char value) const {
    const char* bytes = static_cast<const char*>(host);
    if (!std::all_of(bytes, bytes + kBytes, [value](char byte) { return byte == value; })) {
      std::puts("wrong bytes");
      ++g_failures;
    }
    EXPECT_OK(aclrtFreeHost(host));
    EXPECT_OK(aclrtFree(device));
  }
};

// A thread that serves callbacks from Start to Stop. Start returns when it polled once: what is handed to a
// thread that never did is dropped when its stream is unsubscribed.
class Poller {
 public:
  Poller()
      : thread_([this] {
          while (state_ == kWaits) std::this_thread::yield();
          while (state_ == kPolls) {
            aclrtProcessReport(10);
            polled_ = true;
          }
        }) {}
  ~Poller() {
    if (thread_.joinable()) Stop();
  }
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  uint64_t id() { return static_cast<uint64_t>(thread_.native_handle()); }
  void Start() {
    state_ = kPolls;
    while (!polled_) std::this_thread::yield();
  }
  void Stop() {
    state_ = kStops;
    thread_.join();
  }

 private:
  enum { kWaits, kPolls, kStops };
  std::atomic<int> state_{kWaits};
  std::atomic<bool> polled_{false};
  std::thread thread_;
};
