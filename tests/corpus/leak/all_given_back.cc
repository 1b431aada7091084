// One of everything, and all of it is given back.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  Event event;
  Notify notify;
  DeviceMemory memory;
  PinnedMemory pinned;
  RegisteredMemory registered;
  aclrtContext usual = nullptr, own = nullptr;
  OK(aclrtGetCurrentContext(&usual));
  OK(aclrtCreateContext(&own, 0));
  OK(aclrtDestroyContext(own));
  OK(aclrtSetCurrentContext(usual));
  OK(aclrtMemcpyAsync(memory, kBytes, pinned, kBytes, kToDevice, stream));
  OK(aclrtMemcpyAsync(registered, kBytes, memory, kBytes, kToHost, stream));
  OK(aclrtRecordEvent(event, stream));
  OK(aclrtSynchronizeEvent(event));
}
