// The record was dropped when its stream was aborted, and another stream still waits for it.
// finding: never-fires error
// says: waits for an event record that an abort dropped
#include "cause.h"

int main() {
  Begin();
  aclrtStream producer = NewStream(), consumer = NewStream();
  aclrtEvent ready = NewEvent();
  aclrtNotify gate = NewNotify();
  Bytes bytes;
  EXPECT_OK(aclrtWaitAndResetNotify(gate, producer, 0));
  EXPECT_OK(aclrtRecordEvent(ready, producer));
  EXPECT_OK(aclrtStreamWaitEvent(consumer, ready));  // waits here
  EXPECT_OK(aclrtStreamAbort(producer));
#if !BAD
  EXPECT_OK(aclrtStreamAbort(consumer));
#endif
  bytes.Fill('a', consumer);
  bytes.Fetch(consumer);
  constexpr aclError kExpected = BAD ? ACL_ERROR_RT_STREAM_SYNC_TIMEOUT : ACL_SUCCESS;
  EXPECT_CODE(kExpected, aclrtSynchronizeStreamWithTimeout(consumer, 1000));  // BUG
  EXPECT_OK(aclrtStreamAbort(consumer));
  bytes.End(BAD ? 0 : 'a');
  EXPECT_OK(aclrtDestroyNotify(gate));
  EXPECT_OK(aclrtDestroyEvent(ready));
  EXPECT_OK(aclrtDestroyStream(producer));
  EXPECT_OK(aclrtDestroyStream(consumer));
  return End();
}
