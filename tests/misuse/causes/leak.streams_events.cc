// A stream and an event a step, and the process ends without a reset or aclFinalize. Case C20.
// finding: leak warning
// says: ^5 streams of device 0 were never destroyed$
#include "cause.h"

int main() {
  Begin();
  Bytes bytes;
  for (int step = 0; step < 5; ++step) {
    aclrtStream stream = nullptr;
    EXPECT_OK(aclrtCreateStream(&stream));  // BUG
    aclrtEvent event = NewEvent();          // the second leak
    bytes.Fill('a', stream);
    EXPECT_OK(aclrtRecordEvent(event, stream));
    EXPECT_OK(aclrtSynchronizeEvent(event));
#if !BAD
    EXPECT_OK(aclrtDestroyEvent(event));
    EXPECT_OK(aclrtDestroyStream(stream));
#endif
  }
  bytes.Fetch(nullptr);
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  bytes.End('a');
  if (g_failures == 0) std::puts("ok");
  return g_failures == 0 ? 0 : 1;
}
