// A wait with a limit of its own runs out, and the call that waits for its record is told.
// finding: never-fires error
// says: waited longer than its limit
#include "cause.h"

int main() {
  Begin();
  aclrtStream producer = NewStream(), consumer = NewStream();
  aclrtEvent ready = NewFlagEvent(), fetched = NewEvent();
  Bytes bytes;
  bytes.Fill('a', producer);
#if !BAD
  EXPECT_OK(aclrtRecordEvent(ready, producer));
#endif
  EXPECT_OK(aclrtStreamWaitEventWithTimeout(consumer, ready, BAD ? 20 : 60000));  // waits here
  bytes.Fetch(consumer);
  EXPECT_OK(aclrtRecordEvent(fetched, consumer));
  EXPECT_CODE(BAD ? ACL_ERROR_RT_TASK_TIMEOUT : ACL_SUCCESS, aclrtSynchronizeEvent(fetched));  // BUG
#if BAD
  EXPECT_OK(aclrtRecordEvent(ready, producer));
#endif
  EXPECT_OK(aclrtSynchronizeStream(producer));
  bytes.End('a');
  EXPECT_OK(aclrtDestroyEvent(ready));
  EXPECT_OK(aclrtDestroyEvent(fetched));
  EXPECT_OK(aclrtDestroyStream(producer));
  EXPECT_OK(aclrtDestroyStream(consumer));
  return End();
}
