// The host waits for the device that reads, not for the one that writes.
// expect: missing-order
// check: full
#include "../two_devices.h"

int main() {
  TwoDevices devices;
  OK(aclrtSetDevice(0));
  OK(aclrtMemsetAsync(devices.buffer[0], kBytes, 'a', kBytes, devices.stream[0]));  // first
  OK(aclrtSetDevice(1));
  OK(aclrtSynchronizeDevice());
  OK(aclrtMemcpy(devices.buffer[1], kBytes, devices.buffer[0], kBytes, kOnDevice));  // BUG
  OK(aclrtSetDevice(0));
  OK(aclrtSynchronizeDevice());
}
