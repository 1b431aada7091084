// A stream and a pair of small buffers on every device of the process.
#pragma once

#include "measure.h"

namespace bench {

class DeviceRing {
 public:
  static constexpr size_t kBytes = 64;

  DeviceRing() {
    uint32_t count = 0;
    MUST(aclrtGetDeviceCount(&count));
    for (uint32_t i = 0; i < count; ++i) {
      Place place;
      MUST(aclrtSetDevice(static_cast<int32_t>(i)));
      MUST(aclrtCreateStream(&place.stream));
      MUST(aclrtMalloc(&place.device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
      MUST(aclrtMallocHost(&place.host, kBytes));
      memset(place.host, 1, kBytes);
      places_.push_back(place);
    }
  }

  int size() const { return static_cast<int>(places_.size()); }
  // A small copy and its synchronise.
  void Task(int device) {
    const Place& place = places_[static_cast<size_t>(device)];
    MUST(aclrtSetDevice(device));
    MUST(aclrtMemcpyAsync(place.device, kBytes, place.host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, place.stream));
    MUST(aclrtSynchronizeStream(place.stream));
  }

 private:
  struct Place {
    aclrtStream stream = nullptr;
    void* device = nullptr;
    void* host = nullptr;
  };
  std::vector<Place> places_;
};

}  // namespace bench
