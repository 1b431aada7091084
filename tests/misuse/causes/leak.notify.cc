// A notify holds its number to the end of the process.
// finding: leak warning
// says: ^1 notify of device 0 was never destroyed$
#include "cause.h"

int main() {
  Begin();
  aclrtNotify gate = nullptr;
  EXPECT_OK(aclrtCreateNotify(&gate, ACL_NOTIFY_DEFAULT));  // BUG
#if !BAD
  EXPECT_OK(aclrtDestroyNotify(gate));
#endif
  return End();
}
