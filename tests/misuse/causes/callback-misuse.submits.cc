// A callback submits a task to its stream.
// finding: callback-misuse error
// says: aclrtMemcpyAsync is called inside a callback
#include "cause.h"

namespace {
struct Work {
  const Bytes* bytes;
  aclrtStream stream;
  aclrtContext context;
};

void Submit(void* argument) {
#if BAD
  const Work& work = *static_cast<Work*>(argument);
  EXPECT_OK(aclrtSetCurrentContext(work.context));
  const Bytes& bytes = *work.bytes;
  constexpr auto kBack = ACL_MEMCPY_DEVICE_TO_HOST;
  EXPECT_OK(aclrtMemcpyAsync(bytes.host, kBytes, bytes.device, kBytes, kBack, work.stream));  // BUG
#else
  static_cast<void>(argument);
#endif
}
}  // namespace

int main() {
  Begin();
  Poller poller;
  Bytes bytes;
  Work work = {&bytes, NewStream(), nullptr};
  EXPECT_OK(aclrtGetCurrentContext(&work.context));
  EXPECT_OK(aclrtSubscribeReport(poller.id(), work.stream));
  poller.Start();
  bytes.Fill('a', work.stream);
  EXPECT_OK(aclrtLaunchCallback(Submit, &work, ACL_CALLBACK_BLOCK, work.stream));  // submitted here
#if !BAD
  bytes.Fetch(work.stream);
#endif
  EXPECT_OK(aclrtSynchronizeStream(work.stream));
  EXPECT_OK(aclrtSynchronizeStream(work.stream));
  EXPECT_OK(aclrtUnSubscribeReport(poller.id(), work.stream));
  poller.Stop();
  bytes.End('a');
  EXPECT_OK(aclrtDestroyStream(work.stream));
  return End();
}
