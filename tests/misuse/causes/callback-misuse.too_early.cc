// A stream is unsubscribed before its callback had its turn.
// finding: callback-misuse error
// says: a callback of stream \d+ never runs
#include "cause.h"

namespace {
void Count(void* calls) {
  ++*static_cast<int*>(calls);
}
}  // namespace

int main() {
  Begin();
  Poller poller;
  aclrtStream stream = NewStream();
  aclrtNotify gate = NewNotify();
  Bytes bytes;
  int calls = 0;
  EXPECT_OK(aclrtSubscribeReport(poller.id(), stream));
  poller.Start();
  EXPECT_OK(aclrtWaitAndResetNotify(gate, stream, 0));
  bytes.Fill('a', stream);
  EXPECT_OK(aclrtLaunchCallback(Count, &calls, ACL_CALLBACK_BLOCK, stream));  // BUG
  bytes.Fetch(stream);
#if BAD
  EXPECT_OK(aclrtUnSubscribeReport(poller.id(), stream));
#endif
  EXPECT_OK(aclrtRecordNotify(gate, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(stream));
#if !BAD
  EXPECT_OK(aclrtUnSubscribeReport(poller.id(), stream));
#endif
  poller.Stop();
  bytes.End('a');
  EXPECT_OK(aclrtDestroyNotify(gate));
  EXPECT_OK(aclrtDestroyStream(stream));
  return calls == (BAD ? 0 : 1) ? End() : 1;
}
