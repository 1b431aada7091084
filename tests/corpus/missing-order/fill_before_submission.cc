// A synchronous fill is over before the stream gets its work: the submission orders them.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream one, other;
  DeviceMemory buffer;
  PinnedMemory result;
  OK(aclrtMemset(buffer, kBytes, 'a', kBytes));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, one));
  OK(aclrtSynchronizeStream(one));
  OK(aclrtMemset(buffer, kBytes, 'b', kBytes));
  OK(aclrtMemcpyAsync(result, kBytes, buffer, kBytes, kToHost, other));
  OK(aclrtSynchronizeStream(other));
  return result[0] == 'b' ? 0 : 1;
}
