// Time is asked of an event that keeps none.
// finding: event-misuse error
// says: was created without ACL_EVENT_TIME_LINE
#include "cause.h"

int main() {
  constexpr uint32_t kFlags = BAD ? ACL_EVENT_SYNC : ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE;
  Begin();
  aclrtStream stream = NewStream();
  aclrtEvent start = NewFlagEvent(ACL_EVENT_TIME_LINE), end = nullptr;
  EXPECT_OK(aclrtCreateEventWithFlag(&end, kFlags));  // created here
  Bytes bytes;
  EXPECT_OK(aclrtRecordEvent(start, stream));
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
