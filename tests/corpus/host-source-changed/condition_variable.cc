// A host function behind the copy sets a condition variable; whoever waited for it refills.
// expect: none
// check: full
#include "../corpus.h"
#include "../signal.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  for (int round = 0; round < 3; ++round) {
    Signal copied;
    std::memset(source, round, kBytes);
    OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));
    OK(aclrtLaunchHostFunc(stream, Signal::Set, &copied));
    copied.Wait();
    if (round == 2) OK(aclrtSynchronizeStream(stream));
    source[0] = 1;
    OK(aclrtSynchronizeStream(stream));
  }
}
