// Time is asked of an event that was never recorded.
// finding: event-misuse error
// says: was never recorded
#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  aclrtEvent start = nullptr, end = NewEvent();
  EXPECT_OK(aclrtCreateEvent(&start));  // created here
  Bytes bytes;
#if !BAD
  EXPECT_OK(aclrtRecordEvent(start, stream));
#endif
  bytes.Fill('a', stream);
  EXPECT_OK(aclrtRecordEvent(end, stream));
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  float ms = 0;
  EXPECT_CODE(BAD ? ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID : 0, aclrtEventElapsedTime(&ms, start, end));  // BUG
  bytes.End('a');
  EXPECT_OK(aclrtDestroyEvent(start));
  EXPECT_OK(aclrtDestroyEvent(end));
  EXPECT_OK(aclrtDestroyStream(stream));
  return End();
}
