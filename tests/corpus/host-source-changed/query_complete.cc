// The host asks the stream until it is complete, then changes the source.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory source;
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));
  while (status != ACL_STREAM_STATUS_COMPLETE) OK(aclrtStreamQuery(stream, &status));
  source[0] = 1;
}
