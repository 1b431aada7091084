// A synchronisation ran into its time limit; the program goes on as if the work were done.
// expect: missing-order
// check: full
#include <belay/control.h>

#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  DeviceMemory buffer;
  static char result[kBytes];
  OK(belay_hold_stream(stream));
  OK(aclrtMemsetAsync(buffer, kBytes, 'a', kBytes, stream));  // first
  GIVES(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 1));
  OK(aclrtMemcpy(result, kBytes, buffer, kBytes, kToHost));  // BUG
  OK(belay_release_stream(stream));
  OK(aclrtSynchronizeStream(stream));
}
