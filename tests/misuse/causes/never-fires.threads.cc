// Two threads wait inside the API, each for a record that the other one makes after its wait.
// finding: never-fires error
// says: every thread of the program waits inside the API
// ends: 3
#include "cause.h"

int main() {
  EndIfItHangs(BAD ? 1 : 60);  // both threads are to be told
  Begin();
  aclrtStream producer = NewStream(), consumer = NewStream();
  aclrtNotify filled = NewNotify(), taken = NewNotify();
  aclrtContext context = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&context));
  Bytes bytes;
  EXPECT_OK(aclrtWaitAndResetNotify(filled, consumer, 0));
  bytes.Fetch(consumer);
#if !BAD
  EXPECT_OK(aclrtRecordNotify(taken, nullptr));
#endif
  std::thread other([&] {
    EXPECT_OK(aclrtSetCurrentContext(context));
    EXPECT_OK(aclrtSynchronizeStream(consumer));
    EXPECT_OK(aclrtRecordNotify(taken, nullptr));
  });
  EXPECT_OK(aclrtWaitAndResetNotify(taken, producer, 0));  // waits here
  bytes.Fill('a', producer);
  EXPECT_OK(aclrtSynchronizeStream(producer));  // BUG
  EXPECT_OK(aclrtRecordNotify(filled, producer));
  other.join();
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  bytes.End('a');
  EXPECT_OK(aclrtDestroyNotify(filled));
  EXPECT_OK(aclrtDestroyNotify(taken));
  EXPECT_OK(aclrtDestroyStream(producer));
  EXPECT_OK(aclrtDestroyStream(consumer));
  return End();
}
