// Time is taken between records of two streams, which says nothing about either.
// finding: event-misuse warning
// says: the events were recorded on streams \d+ and \d+
#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = NewStream(), other = NewStream();
  aclrtEvent start = NewEvent(), end = NewEvent();
  Bytes bytes;
  EXPECT_OK(aclrtRecordEvent(start, BAD ? other : stream));  // started here
  EXPECT_OK(aclrtSynchronizeStream(BAD ? other : stream));
  bytes.Fill('a', stream);
  EXPECT_OK(aclrtRecordEvent(end, stream));  // ended here
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  float ms = 0;
  EXPECT_OK(aclrtEventElapsedTime(&ms, start, end));  // BUG
  bytes.End('a');
  EXPECT_OK(aclrtDestroyEvent(start));
  EXPECT_OK(aclrtDestroyEvent(end));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtDestroyStream(other));
  return End();
}
