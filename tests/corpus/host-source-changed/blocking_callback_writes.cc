// A blocking callback fills the source of the copy behind it: the copy waits for it.
// expect: none
// check: full
#include "../poller.h"
#include "../signal.h"

struct Work {
  char* source = nullptr;
  Signal submitted;
};

void Fill(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  work.submitted.Wait();
  std::memset(work.source, 1, kBytes);
}

int main() {
  Device device;
  Stream stream;
  Poller poller(stream);
  DeviceMemory input;
  PinnedMemory source;
  Work work;
  work.source = source;
  OK(aclrtLaunchCallback(Fill, &work, ACL_CALLBACK_BLOCK, stream));
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));
  Signal::Set(&work.submitted);
  OK(aclrtSynchronizeStream(stream));
}
