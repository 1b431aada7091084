// Two records of a notify release one waiter, because nobody waited between them.
// finding: event-misuse warning
// says: notify 0x\w+ is set already
#include "cause.h"

int main() {
  Begin();
  aclrtStream producer = NewStream(), consumer = NewStream();
  aclrtNotify filled = nullptr;
  EXPECT_OK(aclrtCreateNotify(&filled, ACL_NOTIFY_DEFAULT));  // created here
  Bytes bytes;
  EXPECT_OK(aclrtRecordNotify(filled, producer));  // recorded here
  EXPECT_OK(aclrtSynchronizeStream(producer));
#if !BAD
  EXPECT_OK(aclrtWaitAndResetNotify(filled, consumer, 0));
  EXPECT_OK(aclrtSynchronizeStream(consumer));
#endif
  bytes.Fill('a', producer);
  EXPECT_OK(aclrtRecordNotify(filled, producer));  // BUG
  EXPECT_OK(aclrtSynchronizeStream(producer));
  EXPECT_OK(aclrtWaitAndResetNotify(filled, consumer, 0));
  bytes.Fetch(consumer);
  EXPECT_OK(aclrtSynchronizeStream(consumer));
  bytes.End('a');
  EXPECT_OK(aclrtDestroyNotify(filled));
  EXPECT_OK(aclrtDestroyStream(producer));
  EXPECT_OK(aclrtDestroyStream(consumer));
  return End();
}
