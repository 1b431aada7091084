// A notify is destroyed while a stream waits for it: the wait can never end, which is a finding of its own.
// finding: teardown-order warning
// says: notify 0x\w+ is destroyed while a stream waits for it
// also: never-fires
#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  aclrtNotify gate = nullptr;
  EXPECT_OK(aclrtCreateNotify(&gate, ACL_NOTIFY_DEFAULT));  // created here
  Bytes bytes;
  EXPECT_OK(aclrtWaitAndResetNotify(gate, stream, 0));
  bytes.Fill('a', stream);
  bytes.Fetch(stream);
#if !BAD
  EXPECT_OK(aclrtRecordNotify(gate, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(stream));
#endif
  EXPECT_OK(aclrtDestroyNotify(gate));  // BUG
  constexpr aclError kExpected = BAD ? ACL_ERROR_RT_STREAM_SYNC_TIMEOUT : ACL_SUCCESS;
  EXPECT_CODE(kExpected, aclrtSynchronizeStreamWithTimeout(stream, 1000));
  EXPECT_OK(aclrtStreamAbort(stream));
  bytes.End(BAD ? 0 : 'a');
  EXPECT_OK(aclrtDestroyStream(stream));
  return End();
}
