// C30: flag events hold an id from creation on; the one after the last id is refused, and works again once an
// event is destroyed.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  uint32_t limit = 0;
  EXPECT_OK(aclrtGetEventAvailNum(&limit));
  EXPECT_TRUE(limit == 1023);
  std::vector<aclrtEvent> events(limit);
  for (aclrtEvent& event : events) EXPECT_OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
  aclrtEvent extra = nullptr;
  EXPECT_CODE(ACL_ERROR_RT_NO_EVENT_RESOURCE, aclrtCreateEventWithFlag(&extra, ACL_EVENT_SYNC));
  EXPECT_TRUE(extra == nullptr);
  EXPECT_OK(aclrtDestroyEvent(events.back()));
  EXPECT_OK(aclrtCreateEventWithFlag(&events.back(), ACL_EVENT_SYNC));
  for (aclrtEvent event : events) EXPECT_OK(aclrtDestroyEvent(event));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
