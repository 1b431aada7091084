// Two buffers are queued in two streams; the one whose stream is done is freed.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream one, other;
  DeviceMemory first, second;
  void *one_source = nullptr, *other_source = nullptr;
  OK(aclrtMallocHost(&one_source, kBytes));
  OK(aclrtMallocHost(&other_source, kBytes));
  std::memset(one_source, 'a', kBytes);
  std::memset(other_source, 'b', kBytes);
  OK(aclrtMemcpyAsync(first, kBytes, one_source, kBytes, kToDevice, one));
  OK(aclrtMemcpyAsync(second, kBytes, other_source, kBytes, kToDevice, other));
  OK(aclrtSynchronizeStream(one));
  OK(aclrtFreeHost(one_source));
  OK(aclrtSynchronizeStream(other));
  OK(aclrtFreeHost(other_source));
}
