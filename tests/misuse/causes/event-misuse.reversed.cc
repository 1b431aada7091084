// The two events of a time are passed the wrong way round.
// finding: event-misuse error
// says: before the start event
#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  aclrtEvent first = NewEvent(), second = NewEvent();
  Bytes bytes;
  EXPECT_OK(aclrtRecordEvent(first, stream));  // first here
  bytes.Fill('a', stream);
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtRecordEvent(second, stream));  // second here
  EXPECT_OK(aclrtSynchronizeStream(stream));
  float ms = 0;
#if BAD
  EXPECT_CODE(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, aclrtEventElapsedTime(&ms, second, first));  // BUG
#else
  EXPECT_OK(aclrtEventElapsedTime(&ms, first, second));
#endif
  bytes.End('a');
  EXPECT_OK(aclrtDestroyEvent(first));
  EXPECT_OK(aclrtDestroyEvent(second));
  EXPECT_OK(aclrtDestroyStream(stream));
  return End();
}
