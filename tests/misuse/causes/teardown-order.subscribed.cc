// A stream is destroyed while a thread is subscribed to its callbacks.
// finding: teardown-order warning
// says: is destroyed while a thread is subscribed
#include "cause.h"

namespace {
void Count(void* calls) {
  ++*static_cast<int*>(calls);
}
}  // namespace

int main() {
  Begin();
  Poller poller;
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));  // created here
  Bytes bytes;
  int calls = 0;
  EXPECT_OK(aclrtSubscribeReport(poller.id(), stream));  // subscribed here
  poller.Start();
  bytes.Fill('a', stream);
  EXPECT_OK(aclrtLaunchCallback(Count, &calls, ACL_CALLBACK_BLOCK, stream));
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
#if !BAD
  EXPECT_OK(aclrtUnSubscribeReport(poller.id(), stream));
#endif
  EXPECT_OK(aclrtDestroyStream(stream));  // BUG
  poller.Stop();
  bytes.End('a');
  return calls == 1 ? End() : 1;
}
