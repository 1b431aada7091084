// An upload from pageable memory with an event for the stream that uses it.
// expect: none
// check: full,-slow-pattern
#include "../corpus.h"

int main() {
  Device device;
  Stream upload, work;
  Event uploaded;
  DeviceMemory buffer, output;
  static char source[kBytes];
  OK(aclrtMemcpyAsync(buffer, kBytes, source, kBytes, kToDevice, upload));
  OK(aclrtRecordEvent(uploaded, upload));
  OK(aclrtStreamWaitEvent(work, uploaded));
  OK(aclrtMemcpyAsync(output, kBytes, buffer, kBytes, kOnDevice, work));
  OK(aclrtSynchronizeStream(work));
}
