// Two streams wait for each other: each records what the other waits for behind its own wait.
// finding: never-fires error
// says: waits for stream \d+, .* notify .* stream \d+, .* notify .* cycle
// run: --on-finding abort
// ends: 3
#include "cause.h"

int main() {
  EndIfItHangs();
  Begin();
  aclrtStream left = NewStream(), right = NewStream();
  aclrtNotify go_left = NewNotify(), go_right = NewNotify();
  Bytes bytes;
  bytes.Fill('a', left);
#if BAD
  EXPECT_OK(aclrtWaitAndResetNotify(go_left, left, 0));  // left_waits here
  EXPECT_OK(aclrtRecordNotify(go_right, left));          // left_records here
#else
  EXPECT_OK(aclrtRecordNotify(go_right, left));
  EXPECT_OK(aclrtWaitAndResetNotify(go_left, left, 0));
#endif
  EXPECT_OK(aclrtWaitAndResetNotify(go_right, right, 0));  // right_waits here
  EXPECT_OK(aclrtRecordNotify(go_left, right));            // right_records here
  bytes.Fetch(right);
  EXPECT_OK(aclrtSynchronizeStream(left));  // BUG
  EXPECT_OK(aclrtSynchronizeStream(right));
  bytes.End('a');
  EXPECT_OK(aclrtDestroyNotify(go_left));
  EXPECT_OK(aclrtDestroyNotify(go_right));
  EXPECT_OK(aclrtDestroyStream(left));
  EXPECT_OK(aclrtDestroyStream(right));
  return End();
}
