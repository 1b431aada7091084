// The program gives back what it made and ends without aclFinalize.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  {
    Stream stream;
    DeviceMemory memory;
    OK(aclrtMemsetAsync(memory, kBytes, 0, kBytes, stream));
    OK(aclrtSynchronizeStream(stream));
  }
  OK(aclrtResetDevice(0));
}
