// A flag event is recorded again while its bit is still set: the second wait may pass early.
// finding: event-misuse warning
// says: is recorded again without a reset
#include "cause.h"

int main() {
  Begin();
  aclrtStream producer = NewStream(), consumer = NewStream();
  aclrtEvent ready = nullptr;
  EXPECT_OK(aclrtCreateEventWithFlag(&ready, ACL_EVENT_SYNC));  // created here
  Bytes bytes;
  bytes.Fill('a', producer);
  EXPECT_OK(aclrtRecordEvent(ready, producer));  // recorded here
  EXPECT_OK(aclrtStreamWaitEvent(consumer, ready));
  bytes.Fetch(consumer);
  EXPECT_OK(aclrtSynchronizeStream(consumer));
#if !BAD
  EXPECT_OK(aclrtResetEvent(ready, consumer));
  EXPECT_OK(aclrtSynchronizeStream(consumer));
#endif
  bytes.Fill('b', producer);
  EXPECT_OK(aclrtRecordEvent(ready, producer));  // BUG
  EXPECT_OK(aclrtSynchronizeStream(producer));
  EXPECT_OK(aclrtStreamWaitEvent(consumer, ready));
  bytes.Fetch(consumer);
  EXPECT_OK(aclrtSynchronizeStream(consumer));
  bytes.End('b');
  EXPECT_OK(aclrtDestroyEvent(ready));
  EXPECT_OK(aclrtDestroyStream(producer));
  EXPECT_OK(aclrtDestroyStream(consumer));
  return End();
}
