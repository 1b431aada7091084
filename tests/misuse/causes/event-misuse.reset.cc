// An event from aclrtCreateEvent is reset, as in old programs; recording it again is enough.
// finding: event-misuse warning
// says: is reset
#include "cause.h"

int main() {
  Begin();
  aclrtStream producer = NewStream(), consumer = NewStream();
  aclrtEvent ready = nullptr;
  EXPECT_OK(aclrtCreateEvent(&ready));  // created here
  Bytes bytes;
  for (char value : {'a', 'b'}) {
    bytes.Fill(value, producer);
    EXPECT_OK(aclrtRecordEvent(ready, producer));
    EXPECT_OK(aclrtStreamWaitEvent(consumer, ready));
    bytes.Fetch(consumer);
    EXPECT_OK(aclrtSynchronizeStream(consumer));
#if BAD
    EXPECT_OK(aclrtResetEvent(ready, consumer));  // BUG
#endif
  }
  EXPECT_OK(aclrtSynchronizeStream(consumer));
  bytes.End('b');
  EXPECT_OK(aclrtDestroyEvent(ready));
  EXPECT_OK(aclrtDestroyStream(producer));
  EXPECT_OK(aclrtDestroyStream(consumer));
  return End();
}
