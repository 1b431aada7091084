// A stream waits for a word of device memory that nothing will write.
// finding: never-fires error
// says: a value that device memory does not hold
// run: --on-finding abort
// ends: 3
#include "cause.h"

int main() {
  EndIfItHangs();
  Begin();
  aclrtStream producer = NewStream(), consumer = NewStream();
  void* word = nullptr;
  EXPECT_OK(aclrtMalloc(&word, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(word, 64, 0, 64));
  Bytes bytes;
  bytes.Fill('a', producer);
#if !BAD
  EXPECT_OK(aclrtValueWrite(word, 1, 0, producer));
#endif
  EXPECT_OK(aclrtValueWait(word, 1, ACL_VALUE_WAIT_EQ, consumer));  // waits here
  bytes.Fetch(consumer);
  EXPECT_OK(aclrtSynchronizeStream(consumer));  // BUG
  EXPECT_OK(aclrtSynchronizeStream(producer));
  bytes.End('a');
  EXPECT_OK(aclrtFree(word));
  EXPECT_OK(aclrtDestroyStream(producer));
  EXPECT_OK(aclrtDestroyStream(consumer));
  return End();
}
