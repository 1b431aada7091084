// A task failed, and the query that sees its record tells.
// finding: device-fault error
// says: task 0 of stream \d+ of device 0 failed with 507014
#include <belay/control.h>

#include "cause.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  aclrtEvent done = NewEvent();
  Bytes bytes;
#if BAD
  EXPECT_OK(belay_fail_next_task(stream, ACL_ERROR_RT_AICORE_TIMEOUT));
#endif
  EXPECT_OK(aclrtMemsetAsync(bytes.device, kBytes, 'a', kBytes, stream));  // submitted here
  bytes.Fetch(stream);
  EXPECT_OK(aclrtRecordEvent(done, stream));
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  aclError code = ACL_SUCCESS;
  while (code == ACL_SUCCESS && status == ACL_EVENT_RECORDED_STATUS_NOT_READY) {
    code = aclrtQueryEventStatus(done, &status);  // BUG
  }
  EXPECT_CODE(BAD ? ACL_ERROR_RT_AICORE_TIMEOUT : ACL_SUCCESS, code);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  bytes.End(BAD ? 0 : 'a');
  EXPECT_OK(aclrtDestroyEvent(done));
  EXPECT_OK(aclrtDestroyStream(stream));
  return End();
}
