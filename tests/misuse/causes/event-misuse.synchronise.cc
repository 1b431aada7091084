// The host waits for an event that was never recorded, and so for nothing.
// finding: event-misuse warning
// says: event 0x\w+ was never recorded
#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  aclrtEvent done = nullptr;
  EXPECT_OK(aclrtCreateEvent(&done));  // created here
  Bytes bytes;
  bytes.Fill('a', stream);
  bytes.Fetch(stream);
#if BAD
  EXPECT_OK(aclrtSynchronizeEvent(done));  // BUG
  EXPECT_OK(aclrtRecordEvent(done, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
#else
  EXPECT_OK(aclrtRecordEvent(done, stream));
  EXPECT_OK(aclrtSynchronizeEvent(done));
#endif
  bytes.End('a');
  EXPECT_OK(aclrtDestroyEvent(done));
  EXPECT_OK(aclrtDestroyStream(stream));
  return End();
}
