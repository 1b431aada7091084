// Belay's side of the comparison of engines: two streams of device 0 and a third that can hold both.
//
// SidePocl has the same members for an OpenCL device.
#pragma once

#include "measure.h"

namespace bench {

class SideBelay {
 public:
  static constexpr size_t kBytes = 64;

  // `hold_bytes`: the size of the copies that others wait for.
  explicit SideBelay(size_t hold_bytes = size_t{64} << 20) : hold_bytes_(hold_bytes) {
    for (Queue& queue : queues_) {
      MUST(aclrtCreateStream(&queue.stream));
      MUST(aclrtCreateEvent(&queue.event));
      MUST(aclrtMalloc(&queue.device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
      MUST(aclrtMallocHost(&queue.host, kBytes));
      memset(queue.host, 1, kBytes);
    }
  }
  ~SideBelay() {
    if (holder_ != nullptr) {
      MUST(aclrtDestroyStream(holder_));
      MUST(aclrtDestroyEvent(let_go_));
      MUST(aclrtFree(big_device_));
      MUST(aclrtFreeHost(big_host_));
    }
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
  // What is submitted from now on waits behind large copies of a third stream.
  void Hold() {
    if (holder_ == nullptr) MakeHolder();
    for (int i = 0; i < copies_; ++i) {
      MUST(aclrtMemcpyAsync(big_device_, hold_bytes_, big_host_, hold_bytes_, ACL_MEMCPY_HOST_TO_DEVICE,
                            holder_));
    }
    MUST(aclrtRecordEvent(let_go_, holder_));
    for (Queue& queue : queues_) MUST(aclrtStreamWaitEvent(queue.stream, let_go_));
  }
  // Whether nothing could run since Hold(). The next Hold() is longer if not.
  bool StillHeld() {
    if (!LetGo()) return true;
    copies_ = std::min(copies_ + 1, 16);
    return false;
  }
  // The time from which on the streams may run. A loop that asks sees it sooner than a thread that sleeps.
  double Release() {
    while (!LetGo()) {
    }
    return Now();
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

  void MakeHolder() {
    MUST(aclrtCreateStream(&holder_));
    MUST(aclrtCreateEvent(&let_go_));
    MUST(aclrtMalloc(&big_device_, hold_bytes_, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost(&big_host_, hold_bytes_));
    memset(big_host_, 1, hold_bytes_);
  }
  bool LetGo() {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    MUST(aclrtQueryEventStatus(let_go_, &status));
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }

  const size_t hold_bytes_;
  Queue queues_[2];
  aclrtStream holder_ = nullptr;
  aclrtEvent let_go_ = nullptr;
  void* big_device_ = nullptr;
  void* big_host_ = nullptr;
  int copies_ = 1;
};

}  // namespace bench
