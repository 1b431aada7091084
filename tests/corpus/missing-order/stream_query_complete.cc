// The host asks the stream until it is complete, then copies synchronously.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory buffer;
  static char result[kBytes];
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, stream));
  while (status != ACL_STREAM_STATUS_COMPLETE) OK(aclrtStreamQuery(stream, &status));
  OK(aclrtMemcpy(result, kBytes, buffer, kBytes, kToHost));
  return result[0] == 'a' ? 0 : 1;
}
