// What real clients do with streams, events and callbacks, and what is no mistake however odd it looks.
#include <atomic>
#include <cstdio>
#include <initializer_list>
#include <string_view>
#include <thread>

#include "acl/acl.h"

namespace {

std::atomic<bool> g_ok{true};

void Expect(bool condition, const char* what, int line) {
  if (condition) return;
  std::printf("line %d: %s\n", line, what);
  g_ok = false;
}
#define EXPECT(condition) Expect(condition, #condition, __LINE__)

constexpr size_t kBytes = 1 << 20;

struct Client {
  aclrtStream stream = nullptr, other = nullptr;
  void* block = nullptr;

  void Work() const { EXPECT(aclrtMemsetAsync(block, kBytes, 1, kBytes, stream) == ACL_SUCCESS); }
};

aclrtEvent NewExEvent(uint32_t flag) {
  aclrtEvent event = nullptr;
  EXPECT(aclrtCreateEventExWithFlag(&event, flag) == ACL_SUCCESS);
  return event;
}

// An allocator that looks whether a block is free again, also before the first record.
void QueryLoop(const Client& client) {
  const aclrtEvent event = NewExEvent(ACL_EVENT_CAPTURE_STREAM_PROGRESS);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT(aclrtQueryEventStatus(event, &status) == ACL_SUCCESS);
  EXPECT(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
  for (int round = 0; round < 5; ++round) {
    client.Work();
    EXPECT(aclrtRecordEvent(event, client.stream) == ACL_SUCCESS);  // again, without a reset
    do {
      EXPECT(aclrtQueryEventStatus(event, &status) == ACL_SUCCESS);
    } while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE);
  }
  EXPECT(aclrtDestroyEvent(event) == ACL_SUCCESS);
}

// Looks and short waits that come too early: ordinary answers.
void ShortWaits(const Client& client) {
  aclrtEvent gate = nullptr;
  EXPECT(aclrtCreateEventWithFlag(&gate, ACL_EVENT_SYNC) == ACL_SUCCESS);
  const aclrtEvent event = NewExEvent(ACL_EVENT_SYNC);
  EXPECT(aclrtStreamWaitEvent(client.stream, gate) == ACL_SUCCESS);
  client.Work();
  EXPECT(aclrtRecordEvent(event, client.stream) == ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  EXPECT(aclrtStreamQuery(client.stream, &status) == ACL_SUCCESS);
  EXPECT(status == ACL_STREAM_STATUS_NOT_READY);
  for (int timeout : {0, 5}) {
    EXPECT(aclrtSynchronizeStreamWithTimeout(client.stream, timeout) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, timeout) == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(timeout) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  }
  EXPECT(aclrtRecordEvent(gate, client.other) == ACL_SUCCESS);
  EXPECT(aclrtSynchronizeStreamWithTimeout(client.stream, -1) == ACL_SUCCESS);
  EXPECT(aclrtSynchronizeEventWithTimeout(event, 0) == ACL_SUCCESS);
  EXPECT(aclrtDestroyEvent(event) == ACL_SUCCESS);
  EXPECT(aclrtDestroyEvent(gate) == ACL_SUCCESS);
}

// The default events of a large client: waited for although their flags do not say SYNC.
void ClientEvents(const Client& client) {
  const aclrtEvent event = NewExEvent(0x0E);
  for (int round = 0; round < 3; ++round) {
    client.Work();
    EXPECT(aclrtRecordEvent(event, client.stream) == ACL_SUCCESS);
    EXPECT(aclrtStreamWaitEvent(client.other, event) == ACL_SUCCESS);
    EXPECT(aclrtStreamWaitEvent(client.stream, event) == ACL_SUCCESS);  // its own stream: no effect
  }
  EXPECT(aclrtDestroyEvent(event) == ACL_SUCCESS);  // with everything pending
  EXPECT(aclrtSynchronizeStream(client.other) == ACL_SUCCESS);
}

// Timing as a profiler does it: events with a time line, read after the stream.
void Timing(const Client& client) {
  const aclrtEvent start = NewExEvent(ACL_EVENT_TIME_LINE), end = NewExEvent(ACL_EVENT_TIME_LINE);
  EXPECT(aclrtRecordEvent(start, client.stream) == ACL_SUCCESS);
  client.Work();
  EXPECT(aclrtRecordEvent(end, client.stream) == ACL_SUCCESS);
  EXPECT(aclrtSynchronizeEvent(end) == ACL_SUCCESS);
  float ms = -1;
  EXPECT(aclrtEventElapsedTime(&ms, start, end) == ACL_SUCCESS && ms >= 0);
  EXPECT(aclrtDestroyEvent(start) == ACL_SUCCESS);
  EXPECT(aclrtDestroyEvent(end) == ACL_SUCCESS);
}

// A pool thread that never bound a device destroys events.
void DestroyElsewhere(const Client& client) {
  const aclrtEvent event = NewExEvent(ACL_EVENT_SYNC);
  client.Work();
  EXPECT(aclrtRecordEvent(event, client.stream) == ACL_SUCCESS);
  std::thread([event] { EXPECT(aclrtDestroyEvent(event) == ACL_SUCCESS); }).join();
  EXPECT(aclrtSynchronizeStream(client.stream) == ACL_SUCCESS);
}

// A worker polls before anything is subscribed and after everything was unsubscribed.
void Callbacks(const Client& client) {
  std::atomic<bool> stop{false};
  std::atomic<int> calls{0}, unbound{0}, empty{0};
  std::thread worker([&] {
    while (!stop) {
      const aclError code = aclrtProcessReport(1);
      EXPECT(code == ACL_SUCCESS || code == ACL_ERROR_RT_REPORT_TIMEOUT ||
             code == ACL_ERROR_RT_THREAD_SUBSCRIBE);
      unbound += code == ACL_ERROR_RT_THREAD_SUBSCRIBE;
      empty += code == ACL_ERROR_RT_REPORT_TIMEOUT;
    }
  });
  const auto count = [](void* argument) {
    // What callers do first in such a thread.
    int32_t device = 0;
    if (aclrtGetDevice(&device) != ACL_SUCCESS) EXPECT(aclrtSetDevice(0) == ACL_SUCCESS);
    ++*static_cast<std::atomic<int>*>(argument);
  };
  while (unbound == 0) std::this_thread::yield();
  const auto id = static_cast<uint64_t>(worker.native_handle());
  EXPECT(aclrtSubscribeReport(id, client.stream) == ACL_SUCCESS);
  EXPECT(aclrtSubscribeReport(id, client.other) == ACL_SUCCESS);
  while (empty == 0) std::this_thread::yield();
  client.Work();
  EXPECT(aclrtLaunchCallback(count, &calls, ACL_CALLBACK_BLOCK, client.stream) == ACL_SUCCESS);
  EXPECT(aclrtLaunchCallback(count, &calls, ACL_CALLBACK_NO_BLOCK, client.other) == ACL_SUCCESS);
  EXPECT(aclrtSynchronizeStream(client.stream) == ACL_SUCCESS);
  EXPECT(aclrtSynchronizeStream(client.other) == ACL_SUCCESS);
  EXPECT(aclrtUnSubscribeReport(id, client.stream) == ACL_SUCCESS);
  EXPECT(aclrtUnSubscribeReport(id, client.other) == ACL_SUCCESS);
  unbound = 0;
  while (unbound == 0) std::this_thread::yield();
  stop = true;
  worker.join();
  EXPECT(calls == 2);
}

// A host function only tells another thread; an idle stream is aborted and goes on.
void HostFunctionAndAbort(const Client& client) {
  std::atomic<int> calls{0};
  EXPECT(aclrtLaunchHostFunc(
             client.stream, [](void* argument) { ++*static_cast<std::atomic<int>*>(argument); }, &calls) ==
         ACL_SUCCESS);
  EXPECT(aclrtSynchronizeStream(client.stream) == ACL_SUCCESS);
  EXPECT(calls == 1);
  if (std::string_view(aclrtGetSocName()).substr(0, 10) == "Ascend910B") {
    EXPECT(aclrtStreamAbort(client.stream) == ACL_SUCCESS);
  }
  client.Work();
  EXPECT(aclrtSynchronizeStream(client.stream) == ACL_SUCCESS);
}

}  // namespace

int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  Client client;
  aclrtCreateStream(&client.stream);
  aclrtCreateStream(&client.other);
  aclrtMalloc(&client.block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
  for (int round = 0; round < 2; ++round) {
    QueryLoop(client);
    ShortWaits(client);
    ClientEvents(client);
    Timing(client);
    DestroyElsewhere(client);
    Callbacks(client);
    HostFunctionAndAbort(client);
  }
  aclrtFree(client.block);
  aclrtDestroyStream(client.stream);
  aclrtDestroyStream(client.other);
  aclrtResetDevice(0);
  aclFinalize();
  std::puts(g_ok ? "ok" : "an answer that no caller tests for");
  return g_ok ? 0 : 1;
}
