// A callback is launched on a stream that has no thread for it.
// finding: callback-misuse error
// says: stream \d+ has no thread for callbacks
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
  bytes.Fill('a', stream);
#if !BAD
  EXPECT_OK(aclrtSubscribeReport(poller.id(), stream));
  poller.Start();
#endif
  constexpr aclError kExpected = BAD ? ACL_ERROR_RT_STREAM_NO_CB_REG : ACL_SUCCESS;
  EXPECT_CODE(kExpected, aclrtLaunchCallback(Count, &calls, ACL_CALLBACK_BLOCK, stream));  // BUG
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
#if !BAD
  EXPECT_OK(aclrtUnSubscribeReport(poller.id(), stream));
#endif
  poller.Stop();
  bytes.End('a');
  EXPECT_OK(aclrtDestroyStream(stream));
  return calls == (BAD ? 0 : 1) ? End() : 1;
}
