// A host function is launched on a stream whose callbacks have a thread of the program.
// finding: callback-misuse error
// says: stream \d+ has a thread for callbacks
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
#if BAD
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchHostFunc(stream, Count, &calls));  // BUG
#else
  EXPECT_OK(aclrtLaunchCallback(Count, &calls, ACL_CALLBACK_BLOCK, stream));
#endif
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtUnSubscribeReport(poller.id(), stream));
  poller.Stop();
  bytes.End('a');
  EXPECT_OK(aclrtDestroyStream(stream));
  return calls == (BAD ? 0 : 1) ? End() : 1;
}
