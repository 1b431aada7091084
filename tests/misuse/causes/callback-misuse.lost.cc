// The thread of a stream ends without taking what was handed to it.
// finding: callback-misuse error
// says: 2 callbacks of stream \d+ never ran
#include "cause.h"

namespace {
void Count(void* calls) {
  ++*static_cast<int*>(calls);
}
}  // namespace

int main() {
  Begin();
  Poller poller;
  const uint64_t thread = poller.id();
  aclrtStream stream = NewStream();
  Bytes bytes;
  int calls = 0;
  EXPECT_OK(aclrtSubscribeReport(thread, stream));
#if BAD
  poller.Stop();
#else
  poller.Start();
#endif
  EXPECT_OK(aclrtLaunchCallback(Count, &calls, ACL_CALLBACK_NO_BLOCK, stream));  // first here
  EXPECT_OK(aclrtLaunchCallback(Count, &calls, ACL_CALLBACK_NO_BLOCK, stream));
  bytes.Fill('a', stream);
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtUnSubscribeReport(thread, stream));  // BUG
#if !BAD
  poller.Stop();
#endif
  bytes.End('a');
  EXPECT_OK(aclrtDestroyStream(stream));
  return calls == (BAD ? 0 : 2) ? End() : 1;
}
