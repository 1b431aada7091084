// A callback that does not block fills the source of the copy behind it: the copy does not wait for it.
// expect: host-source-changed
// check: full
#include "../poller.h"
#include "../signal.h"

struct Work {
  char* source = nullptr;
  Signal submitted, filled;
};

void Fill(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  work.submitted.Wait();
  work.source[7] = 1;  // BUG
  Signal::Set(&work.filled);
}

int main() {
  Device device;
  Stream stream;
  Poller poller(stream);
  DeviceMemory input;
  PinnedMemory source;
  Work work;
  work.source = source;
  OK(aclrtLaunchCallback(Fill, &work, ACL_CALLBACK_NO_BLOCK, stream));
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));  // first
  Signal::Set(&work.submitted);
  work.filled.Wait();
  OK(aclrtSynchronizeStream(stream));
}
