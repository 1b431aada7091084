// A pipeline in one stream: a host function fills the buffer, a copy takes it, and so on, all queued at once.
// expect: none
// check: full
#include "../corpus.h"
#include "../signal.h"

struct Work {
  char* source = nullptr;
  int round = 0;
};

void Fill(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  std::memset(work.source, ++work.round, kBytes);
}

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  Signal submitted;
  Work work;
  work.source = source;
  OK(aclrtLaunchHostFunc(
      stream, [](void* signal) { static_cast<Signal*>(signal)->Wait(); }, &submitted));
  for (int round = 0; round < 3; ++round) {
    OK(aclrtLaunchHostFunc(stream, Fill, &work));
    OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));
  }
  Signal::Set(&submitted);
  OK(aclrtSynchronizeStream(stream));
}
