// A callback that does not block reads a result which the next copy of its stream overwrites.
// expect: host-target-early
// check: full
#include "../poller.h"
#include "../signal.h"

struct Work {
  char* result = nullptr;
  Signal submitted, read;
};

void Read(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  work.submitted.Wait();
  std::printf("%d\n", work.result[0]);  // BUG
  Signal::Set(&work.read);
}

int main() {
  Device device;
  Stream stream;
  Poller poller(stream);
  DeviceMemory output;
  PinnedMemory result;
  Work work;
  work.result = result;
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));
  OK(aclrtLaunchCallback(Read, &work, ACL_CALLBACK_NO_BLOCK, stream));
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));  // first
  Signal::Set(&work.submitted);
  work.read.Wait();
  OK(aclrtSynchronizeStream(stream));
}
