// A host function behind the copy sets a condition variable; whoever waited for it reads.
// expect: none
// check: full
#include "../corpus.h"
#include "../signal.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory result;
  Signal fetched;
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));
  OK(aclrtLaunchHostFunc(stream, Signal::Set, &fetched));
  fetched.Wait();
  const int byte = result[0];
  OK(aclrtSynchronizeStream(stream));
  return byte;
}
