// Belay's side of the comparison of engines: two streams of device 0.
//
// SidePocl has the same members for an OpenCL device.
#pragma once

#include "belay/control.h"
#include "measure.h"

namespace bench {

class SideBelay {
 public:
  static constexpr size_t kBytes = 64;

  SideBelay() {
    for (Queue& queue : queues_) {
      MUST(aclrtCreateStream(&queue.stream));
      MUST(aclrtCreateEvent(&queue.event));
      MUST(aclrtMalloc(&queue.device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
      MUST(aclrtMallocHost(&queue.host, kBytes));
      memset(queue.host, 1, kBytes);
    }
  }
  ~SideBelay() {
    for (Queue& queue : queues_) {
      MUST(aclrtDestroyStream(queue.stream));
      MUST(aclrtDestroyEvent(queue.event));
      MUST(aclrtFree(queue.device));
      MUST(aclrtFreeHost(queue.host));
    }
  }
  SideBelay(const SideBelay&) = delete;
  SideBelay& operator=(const SideBelay&) = delete;

  // A small copy to the device.
  void Copy(int q) {
    Queue& queue = queues_[q];
    MUST(aclrtMemcpyAsync(queue.device, kBytes, queue.host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, queue.stream));
  }
  // And from it.
  void Fetch(int q) {
    Queue& queue = queues_[q];
    MUST(aclrtMemcpyAsync(queue.host, kBytes, queue.device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, queue.stream));
  }
  bool Idle(int q) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    MUST(aclrtStreamQuery(queues_[q].stream, &status));
    return status == ACL_STREAM_STATUS_COMPLETE;
  }
  void Synchronize(int q) { MUST(aclrtSynchronizeStream(queues_[q].stream)); }
  void RecordAndSynchronize(int q) {
    MUST(aclrtRecordEvent(queues_[q].event, queues_[q].stream));
    MUST(aclrtSynchronizeEvent(queues_[q].event));
  }
  // A small copy on `to` that comes after everything on `from`.
  void Hop(int from, int to) {
    MUST(aclrtRecordEvent(queues_[from].event, queues_[from].stream));
    MUST(aclrtStreamWaitEvent(queues_[to].stream, queues_[from].event));
    Copy(to);
  }
  void LinkedHop(int from, int to) { Hop(from, to); }

  bool CanHold() const { return true; }
  // What is submitted from now on stays queued.
  void Hold() {
    for (Queue& queue : queues_) MUST(belay_hold_stream(queue.stream));
  }
  // Gives the time from which on it may run.
  double Release() {
    double start = Now();
    for (Queue& queue : queues_) MUST(belay_release_stream(queue.stream));
    return start;
  }

  // Whether a copy arrives: a number from a copy that moves nothing is worse than none.
  bool Works() {
    unsigned char got[kBytes] = {};
    memset(queues_[1].host, 0x77, kBytes);
    Hop(0, 1), Synchronize(1);
    MUST(aclrtMemcpy(got, kBytes, queues_[1].device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    return memcmp(got, queues_[1].host, kBytes) == 0;
  }

 private:
  struct Queue {
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    void* device = nullptr;
    void* host = nullptr;
  };

  Queue queues_[2];
};

}  // namespace bench
