// The source is changed when the word that the stream waits for was written.
// expect: host-source-changed
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream, other;
  DeviceMemory input, word(8);
  PinnedMemory source;
  OK(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, stream));
  OK(aclrtMemcpyAsync(input, kBytes, source, kBytes, kToDevice, stream));  // first
  OK(aclrtValueWrite(word, 1, 0, other));
  source[0] = 1;  // BUG
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtSynchronizeStream(other));
}
