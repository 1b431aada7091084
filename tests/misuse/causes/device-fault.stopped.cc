// A task fails in a context in mode STOP: every later call meets that first failure.
// finding: device-fault error
// says: task 1 of stream \d+ of device 0 failed with 507015.*the context is stopped
#include <belay/control.h>

#include "cause.h"

int main() {
  Begin();
  aclrtContext context = nullptr;
  EXPECT_OK(aclrtCreateContext(&context, 0));
  aclrtStream stream = NewStream();
  EXPECT_OK(aclrtSetStreamFailureMode(stream, 1));
  Bytes bytes;
  bytes.Fill('a', stream);
#if BAD
  EXPECT_OK(belay_fail_next_task(stream, ACL_ERROR_RT_AICORE_EXCEPTION));
#endif
  EXPECT_OK(aclrtMemsetAsync(bytes.device, kBytes, 'b', kBytes, stream));  // submitted here
  EXPECT_CODE(BAD ? ACL_ERROR_RT_AICORE_EXCEPTION : ACL_SUCCESS, aclrtSynchronizeStream(stream));
  constexpr aclError kExpected = BAD ? ACL_ERROR_RT_AICORE_EXCEPTION : ACL_SUCCESS;
  EXPECT_CODE(kExpected, aclrtMemsetAsync(bytes.device, kBytes, 'c', kBytes, stream));  // BUG
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtDestroyContext(context));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtMemcpy(bytes.host, kBytes, bytes.device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  bytes.End(BAD ? 'a' : 'c');
  return End();
}
