// The source is changed while the stream still waits for a word that is written after that.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream, other;
  DeviceMemory input, word(8);
  PinnedMemory source;
  OK(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, stream));
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));
  source[0] = 1;
  OK(aclrtValueWrite(word, 1, 0, other));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtSynchronizeStream(other));
}
