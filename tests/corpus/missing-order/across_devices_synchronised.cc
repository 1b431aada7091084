// The host waits for device 0 before it submits the peer copy on device 1.
// expect: none
// check: full
#include "../two_devices.h"

int main() {
  TwoDevices devices;
  OK(aclrtSetDevice(0));
  OK(aclrtMemsetAsync(devices.buffer[0], kBytes, 'a', kBytes, devices.stream[0]));
  OK(aclrtSynchronizeStream(devices.stream[0]));
  OK(aclrtSetDevice(1));
  OK(aclrtMemcpyAsync(devices.buffer[1], kBytes, devices.buffer[0], kBytes, kOnDevice, devices.stream[1]));
  OK(aclrtSynchronizeStream(devices.stream[1]));
}
