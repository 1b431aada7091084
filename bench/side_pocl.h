// PoCL's side of the comparison of engines: one OpenCL device with two in-order queues; see SideBelay.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <memory>
#include <string>
#include <vector>

#include "measure.h"

namespace bench {

inline void ClMust(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s: OpenCL error %d\n", what, code);
  exit(2);
}
#define CL_MUST(CALL) ::bench::ClMust((CALL), #CALL)

class SidePocl {
 public:
  static constexpr size_t kBytes = 64;

  // PoCL's inline device "basic" and its threaded default device "pthread"; null where this machine has none.
  // Before the first OpenCL call of the process.
  struct Devices {
    std::unique_ptr<SidePocl> basic, threaded;
  };
  static Devices Open() {
    setenv("POCL_DEVICES", "basic pthread", 1);
    Devices found;
    cl_uint count = 0;
    if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return found;
    std::vector<cl_platform_id> platforms(count);
    CL_MUST(clGetPlatformIDs(count, platforms.data(), nullptr));
    for (cl_platform_id platform : platforms) {
      cl_uint devices = 0;
      if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS) continue;
      std::vector<cl_device_id> ids(devices);
      CL_MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr));
      for (cl_device_id id : ids) {
        char name[256] = {};
        CL_MUST(clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name - 1, name, nullptr));
        auto starts = [&](const char* text) { return std::string(name).rfind(text, 0) == 0; };
        if (starts("basic")) found.basic = std::make_unique<SidePocl>(id, false);
        if (starts("pthread")) found.threaded = std::make_unique<SidePocl>(id, true);
      }
    }
    return found;
  }

  SidePocl(cl_device_id device, bool can_hold) : can_hold_(can_hold) {
    cl_int code = 0;
    context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    CL_MUST(code);
    for (Queue& queue : queues_) {
      queue.queue = clCreateCommandQueue(context_, device, 0, &code);
      CL_MUST(code);
      queue.device = clCreateBuffer(context_, CL_MEM_READ_WRITE, kBytes, nullptr, &code);
      CL_MUST(code);
      queue.host = aligned_alloc(4096, 4096);
      memset(queue.host, 1, kBytes);
    }
  }
  ~SidePocl() {
    for (Queue& queue : queues_) {
      if (queue.last != nullptr) clReleaseEvent(queue.last);
      clReleaseMemObject(queue.device);
      clReleaseCommandQueue(queue.queue);
      free(queue.host);
    }
    clReleaseContext(context_);
  }
  SidePocl(const SidePocl&) = delete;
  SidePocl& operator=(const SidePocl&) = delete;

  void Copy(int q) { Write(q, 0, nullptr, nullptr); }
  // Whether all that was enqueued is done.
  bool Idle(int q) {
    cl_event event = nullptr;
    cl_int status = CL_QUEUED;
    CL_MUST(clEnqueueMarkerWithWaitList(queues_[q].queue, 0, nullptr, &event));
    CL_MUST(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
    CL_MUST(clReleaseEvent(event));
    return status == CL_COMPLETE;
  }
  void Synchronize(int q) { CL_MUST(clFinish(queues_[q].queue)); }
  void RecordAndSynchronize(int q) {
    cl_event event = nullptr;
    CL_MUST(clEnqueueMarkerWithWaitList(queues_[q].queue, 0, nullptr, &event));
    CL_MUST(clWaitForEvents(1, &event));
    CL_MUST(clReleaseEvent(event));
  }
  // Command for command what SideBelay does.
  void Hop(int from, int to) {
    cl_event event = nullptr;
    CL_MUST(clEnqueueMarkerWithWaitList(queues_[from].queue, 0, nullptr, &event));
    CL_MUST(clEnqueueBarrierWithWaitList(queues_[to].queue, 1, &event, nullptr));
    CL_MUST(clReleaseEvent(event));
    Copy(to);
  }
  // The same order with a single command: every OpenCL command has an event and takes a list to wait for.
  void LinkedHop(int from, int to) {
    cl_event& before = queues_[from].last;
    cl_event event = nullptr;
    Write(to, before != nullptr ? 1 : 0, before != nullptr ? &before : nullptr, &event);
    if (queues_[to].last != nullptr) CL_MUST(clReleaseEvent(queues_[to].last));
    queues_[to].last = event;
  }

  // The inline device never has a queue, and PoCL 3.1 locks itself out when a user event makes one.
  bool CanHold() const { return can_hold_; }
  void Hold() {
    cl_int code = 0;
    held_ = clCreateUserEvent(context_, &code);
    CL_MUST(code);
    for (Queue& queue : queues_) CL_MUST(clEnqueueBarrierWithWaitList(queue.queue, 1, &held_, nullptr));
  }
  double Release() {
    double start = Now();
    CL_MUST(clSetUserEventStatus(held_, CL_COMPLETE));
    CL_MUST(clReleaseEvent(held_));
    return start;
  }

  bool Works() {
    unsigned char got[kBytes] = {};
    memset(queues_[1].host, 0x77, kBytes);
    Hop(0, 1), Synchronize(1);
    CL_MUST(clEnqueueReadBuffer(queues_[1].queue, queues_[1].device, CL_TRUE, 0, kBytes, got, 0, nullptr,
                                nullptr));
    return memcmp(got, queues_[1].host, kBytes) == 0;
  }

 private:
  struct Queue {
    cl_command_queue queue = nullptr;
    cl_mem device = nullptr;
    void* host = nullptr;
    cl_event last = nullptr;
  };

  void Write(int q, cl_uint waits, const cl_event* wait_for, cl_event* event) {
    Queue& queue = queues_[q];
    CL_MUST(clEnqueueWriteBuffer(queue.queue, queue.device, CL_FALSE, 0, kBytes, queue.host, waits, wait_for,
                                 event));
  }

  const bool can_hold_;
  cl_context context_ = nullptr;
  Queue queues_[2];
  cl_event held_ = nullptr;
};

}  // namespace bench
