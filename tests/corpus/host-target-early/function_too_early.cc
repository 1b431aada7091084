// A host function reads the result of the copy that is queued behind it.
// expect: host-target-early
// check: full
#include "../corpus.h"
#include "../signal.h"

struct Work {
  char* result = nullptr;
  Signal submitted;
};

void Read(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  work.submitted.Wait();
  std::printf("%d\n", work.result[0]);  // BUG
}

int main() {
  Device device;
  Stream reader, fetch;
  DeviceMemory output;
  PinnedMemory result;
  Work work;
  work.result = result;
  OK(aclrtLaunchHostFunc(reader, Read, &work));
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, fetch));  // first
  Signal::Set(&work.submitted);
  OK(aclrtSynchronizeStream(reader));
  OK(aclrtSynchronizeStream(fetch));
}
