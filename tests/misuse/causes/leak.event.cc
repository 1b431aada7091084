// Events outlive the reset of their device and are told when the runtime is finalised, once.
// finding: leak warning
// says: ^2 events of device 0 were never destroyed$
#include "cause.h"

int main() {
  Begin();
  aclrtEvent events[2] = {};
  for (aclrtEvent& event : events) EXPECT_OK(aclrtCreateEvent(&event));  // BUG
#if !BAD
  for (aclrtEvent event : events) EXPECT_OK(aclrtDestroyEvent(event));
#endif
  return End();
}
