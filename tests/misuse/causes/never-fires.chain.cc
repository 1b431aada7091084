// A stream waits for an event whose stream waits for a notify that nobody records.
// finding: never-fires error
// says: an event of stream \d+, whose next task waits for a notify
// run: --on-finding abort
// ends: 3
#include "cause.h"

int main() {
  EndIfItHangs();
  Begin();
  aclrtStream producer = NewStream(), consumer = NewStream();
  aclrtEvent ready = NewEvent();
  aclrtNotify gate = NewNotify();
  Bytes bytes;
#if !BAD
  EXPECT_OK(aclrtRecordNotify(gate, nullptr));
#endif
  EXPECT_OK(aclrtWaitAndResetNotify(gate, producer, 0));  // producer_waits here
  bytes.Fill('a', producer);
  EXPECT_OK(aclrtRecordEvent(ready, producer));
  EXPECT_OK(aclrtStreamWaitEvent(consumer, ready));  // consumer_waits here
  bytes.Fetch(consumer);
  EXPECT_OK(aclrtSynchronizeStream(consumer));  // BUG
  EXPECT_OK(aclrtSynchronizeDevice());
  bytes.End('a');
  EXPECT_OK(aclrtDestroyNotify(gate));
  EXPECT_OK(aclrtDestroyEvent(ready));
  EXPECT_OK(aclrtDestroyStream(producer));
  EXPECT_OK(aclrtDestroyStream(consumer));
  return End();
}
