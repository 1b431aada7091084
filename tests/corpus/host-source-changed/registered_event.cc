// Registered memory is changed after the event that follows its copy.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  Event copied;
  DeviceMemory input;
  RegisteredMemory source;
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));
  OK(aclrtRecordEvent(copied, stream));
  OK(aclrtSynchronizeEvent(copied));
  source[kBytes / 2] = 1;
  OK(aclrtSynchronizeStream(stream));
}
