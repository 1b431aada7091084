// A notify that device 0 records and device 1 waits for orders a peer copy.
// expect: none
// check: full
#include "../two_devices.h"

int main() {
  TwoDevices devices;
  aclrtNotify filled = nullptr;
  OK(aclrtSetDevice(1));
  OK(aclrtCreateNotify(&filled, ACL_NOTIFY_DEFAULT));
  OK(aclrtSetDevice(0));
  OK(aclrtMemsetAsync(devices.buffer[0], kBytes, 'a', kBytes, devices.stream[0]));
  OK(aclrtRecordNotify(filled, devices.stream[0]));
  OK(aclrtSetDevice(1));
  OK(aclrtWaitAndResetNotify(filled, devices.stream[1], 0));
  OK(aclrtMemcpyAsync(devices.buffer[1], kBytes, devices.buffer[0], kBytes, kOnDevice, devices.stream[1]));
  OK(aclrtSynchronizeStream(devices.stream[1]));
  OK(aclrtDestroyNotify(filled));
}
