// A callback that does not block copies a buffer which the next task of its stream overwrites.
// expect: missing-order callback-misuse
// check: full
#include "../poller.h"
#include "../signal.h"

struct Work {
  aclrtContext context = nullptr;
  char *buffer = nullptr, *result = nullptr;
  Signal submitted, copied;
};

void Copy(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  work.submitted.Wait();
  OK(aclrtSetCurrentContext(work.context));
  OK(aclrtMemcpy(work.result, kBytes, work.buffer, kBytes, kToHost));  // BUG  // BUG: callback-misuse
  Signal::Set(&work.copied);
}

int main() {
  Device device;
  Stream stream;
  Poller poller(stream);
  DeviceMemory buffer;
  PinnedMemory result;
  Work work;
  OK(aclrtGetCurrentContext(&work.context));
  work.buffer = buffer;
  work.result = result;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, stream));
  OK(aclrtLaunchCallback(Copy, &work, ACL_CALLBACK_NO_BLOCK, stream));
  OK(aclrtMemsetAsync(buffer, kBytes, 'b', kBytes, stream));  // first
  Signal::Set(&work.submitted);
  work.copied.Wait();
  OK(aclrtSynchronizeStream(stream));
}
