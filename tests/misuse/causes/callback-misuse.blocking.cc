// A blocking callback waits for its own stream, which waits for the callback.
// finding: callback-misuse error
// says: aclrtSynchronizeStream waits for stream \d+, which waits for the function that calls it
#include "cause.h"

namespace {
struct Work {
  aclrtStream stream;
  aclrtContext context;
};

void Wait(void* argument) {
#if BAD
  const Work& work = *static_cast<Work*>(argument);
  EXPECT_OK(aclrtSetCurrentContext(work.context));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(work.stream));  // BUG
#else
  static_cast<void>(argument);
#endif
}
}  // namespace

int main() {
  Begin();
  Poller poller;
  Bytes bytes;
  Work work = {NewStream(), nullptr};
  EXPECT_OK(aclrtGetCurrentContext(&work.context));
  EXPECT_OK(aclrtSubscribeReport(poller.id(), work.stream));
  poller.Start();
  EXPECT_OK(aclrtLaunchCallback(Wait, &work, ACL_CALLBACK_BLOCK, work.stream));  // submitted here
  bytes.Fill('a', work.stream);
  bytes.Fetch(work.stream);
  EXPECT_OK(aclrtSynchronizeStream(work.stream));
  EXPECT_OK(aclrtUnSubscribeReport(poller.id(), work.stream));
  poller.Stop();
  bytes.End('a');
  EXPECT_OK(aclrtDestroyStream(work.stream));
  return End();
}
