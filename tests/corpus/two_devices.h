// Two devices with a stream and a buffer each, and peer access both ways.
#pragma once

#include "corpus.h"

struct TwoDevices {
  aclrtStream stream[2] = {};
  void* buffer[2] = {};

  TwoDevices() {
    OK(aclInit(nullptr));
    for (int device = 0; device < 2; ++device) {
      OK(aclrtSetDevice(device));
      OK(aclrtDeviceEnablePeerAccess(1 - device, 0));
      OK(aclrtCreateStream(&stream[device]));
      OK(MakeDeviceMemory(&buffer[device], kBytes));
    }
  }
  ~TwoDevices() {
    for (int device = 0; device < 2; ++device) {
      OK(aclrtSetDevice(device));
      OK(aclrtFree(buffer[device]));
      OK(aclrtDestroyStream(stream[device]));
    }
    for (int device = 0; device < 2; ++device) OK(aclrtResetDevice(device));
    OK(aclFinalize());
  }
  TwoDevices(const TwoDevices&) = delete;
  TwoDevices& operator=(const TwoDevices&) = delete;
};
