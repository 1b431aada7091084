// A blocking callback sets a condition variable; the thread that waited for it copies synchronously.
// expect: none
// check: full
#include "../poller.h"
#include "../signal.h"

int main() {
  Device device;
  Stream stream;
  Poller poller(stream);
  DeviceMemory buffer;
  static char result[kBytes];
  Signal done;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, stream));
  OK(aclrtLaunchCallback(Signal::Set, &done, ACL_CALLBACK_BLOCK, stream));
  done.Wait();
  OK(aclrtMemcpy(result, kBytes, buffer, kBytes, kToHost));
  OK(aclrtSynchronizeStream(stream));
  return result[0] == 'a' ? 0 : 1;
}
