// A peer copy on the stream of device 1 reads what a stream of device 0 still fills.
// expect: missing-order
// check: full
#include "../two_devices.h"

int main() {
  TwoDevices devices;
  OK(aclrtSetDevice(0));
  OK(aclrtMemsetAsync(devices.buffer[0], kBytes, 'a', kBytes, devices.stream[0]));  // first
  OK(aclrtSetDevice(1));
  void *const source = devices.buffer[0], *const target = devices.buffer[1];
  OK(aclrtMemcpyAsync(target, kBytes, source, kBytes, kOnDevice, devices.stream[1]));  // BUG
  OK(aclrtSynchronizeStream(devices.stream[1]));
  OK(aclrtSetDevice(0));
  OK(aclrtSynchronizeStream(devices.stream[0]));
}
