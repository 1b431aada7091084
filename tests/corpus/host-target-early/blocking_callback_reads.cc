// A blocking callback reads a result; the next copy of its stream waits for it.
// expect: none
// check: full
#include "../poller.h"
#include "../signal.h"

struct Work {
  char* result = nullptr;
  Signal submitted;
};

void Read(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  work.submitted.Wait();
  std::printf("%d\n", work.result[0]);
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
  OK(aclrtLaunchCallback(Read, &work, ACL_CALLBACK_BLOCK, stream));
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));
  Signal::Set(&work.submitted);
  OK(aclrtSynchronizeStream(stream));
}
