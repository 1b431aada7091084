// Time is asked of an event whose record is not complete.
// finding: event-misuse error
// says: the record of event 0x\w+ is not complete
#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  aclrtNotify gate = NewNotify();
  aclrtEvent start = NewEvent(), end = nullptr;
  EXPECT_OK(aclrtCreateEvent(&end));  // created here
  Bytes bytes;
  EXPECT_OK(aclrtRecordEvent(start, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtWaitAndResetNotify(gate, stream, 0));
  bytes.Fill('a', stream);
  EXPECT_OK(aclrtRecordEvent(end, stream));  // recorded here
  bytes.Fetch(stream);
#if !BAD
  EXPECT_OK(aclrtRecordNotify(gate, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(stream));
#endif
  float ms = 0;
  constexpr aclError kExpected = BAD ? ACL_ERROR_RT_EVENT_NOT_COMPLETE : ACL_SUCCESS;
  EXPECT_CODE(kExpected, aclrtEventElapsedTime(&ms, start, end));  // BUG
#if BAD
  EXPECT_OK(aclrtRecordNotify(gate, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(stream));
#endif
  bytes.End('a');
  EXPECT_OK(aclrtDestroyNotify(gate));
  EXPECT_OK(aclrtDestroyEvent(start));
  EXPECT_OK(aclrtDestroyEvent(end));
  EXPECT_OK(aclrtDestroyStream(stream));
  return End();
}
