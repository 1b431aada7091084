// aclrtSynchronizeDevice waits for the streams of the current context only.
// expect: missing-order
// check: full
#include "../corpus.h"

int main() {
  Device device;
  DeviceMemory buffer;
  static char result[kBytes];
  aclrtContext usual = nullptr, own = nullptr;
  aclrtStream stream = nullptr;
  OK(aclrtGetCurrentContext(&usual));
  OK(aclrtCreateContext(&own, 0));
  OK(aclrtCreateStream(&stream));
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, stream));  // first
  OK(aclrtSetCurrentContext(usual));
  OK(aclrtSynchronizeDevice());
  OK(aclrtMemcpy(result, kBytes, buffer, kBytes, kToHost));  // BUG
  OK(aclrtSetCurrentContext(own));
  OK(aclrtDestroyStream(stream));
  OK(aclrtDestroyContext(own));
  OK(aclrtSetCurrentContext(usual));
}
