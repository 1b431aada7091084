// The synchronisation ran into its time limit; the result is read all the same.
// expect: host-target-early
// check: full
#include <belay/control.h>

#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory result;
  OK(belay_hold_stream(stream));
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));  // first
  GIVES(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 1));
  const int byte = result[0];  // BUG
  OK(belay_release_stream(stream));
  OK(aclrtSynchronizeStream(stream));
  return byte;
}
