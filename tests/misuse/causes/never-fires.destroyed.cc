// What a stream waits for was destroyed, so nothing can ever set it.
// finding: never-fires error
// says: waits for a notify .*destroyed
// also: teardown-order
#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  aclrtNotify gate = NewNotify();
  Bytes bytes;
  EXPECT_OK(aclrtWaitAndResetNotify(gate, stream, 0));  // waits here
  bytes.Fill('a', stream);
  bytes.Fetch(stream);
#if !BAD
  EXPECT_OK(aclrtRecordNotify(gate, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(stream));
#endif
  EXPECT_OK(aclrtDestroyNotify(gate));
  constexpr aclError kExpected = BAD ? ACL_ERROR_RT_STREAM_SYNC_TIMEOUT : ACL_SUCCESS;
  EXPECT_CODE(kExpected, aclrtSynchronizeStreamWithTimeout(stream, 1000));  // BUG
  EXPECT_OK(aclrtStreamAbort(stream));
  bytes.End(BAD ? 0 : 'a');
  EXPECT_OK(aclrtDestroyStream(stream));
  return End();
}
