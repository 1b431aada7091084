// A callback throws into aclrtProcessReport.
// finding: callback-misuse error
// says: callback threw .*: no such file
#include <stdexcept>

#include "cause.h"

namespace {
void Open(void* failed) {
#if BAD
  static_cast<void>(failed);
  throw std::runtime_error("no such file");
#else
  *static_cast<bool*>(failed) = true;
#endif
}
}  // namespace

int main() {
  Begin();
  Poller poller;
  aclrtStream stream = NewStream();
  Bytes bytes;
  bool failed = false;
  EXPECT_OK(aclrtSubscribeReport(poller.id(), stream));
  poller.Start();
  EXPECT_OK(aclrtLaunchCallback(Open, &failed, ACL_CALLBACK_BLOCK, stream));  // BUG
  bytes.Fill('a', stream);
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtUnSubscribeReport(poller.id(), stream));
  poller.Stop();
  bytes.End('a');
  EXPECT_OK(aclrtDestroyStream(stream));
  return failed == BAD ? 1 : End();
}
