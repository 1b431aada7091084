// A wait with the limit of aclrtSetOpWaitTimeout runs out, because the record comes too late.
// finding: never-fires error
// says: waited longer than its limit
#include "cause.h"

int main() {
  Begin();
  EXPECT_OK(aclrtSetOpWaitTimeout(1));
  aclrtStream producer = NewStream(), consumer = NewStream();
  aclrtEvent ready = NewFlagEvent();
  Bytes bytes;
  bytes.Fill('a', producer);
#if !BAD
  EXPECT_OK(aclrtRecordEvent(ready, producer));
#endif
  EXPECT_OK(aclrtStreamWaitEvent(consumer, ready));  // waits here
  bytes.Fetch(consumer);
  EXPECT_CODE(BAD ? ACL_ERROR_RT_TASK_TIMEOUT : ACL_SUCCESS, aclrtSynchronizeStream(consumer));  // BUG
#if BAD
  EXPECT_OK(aclrtRecordEvent(ready, producer));
#endif
  EXPECT_OK(aclrtSynchronizeStream(producer));
  bytes.End('a');
  EXPECT_OK(aclrtDestroyEvent(ready));
  EXPECT_OK(aclrtDestroyStream(producer));
  EXPECT_OK(aclrtDestroyStream(consumer));
  return End();
}
