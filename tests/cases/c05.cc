// C05: streams and events of device 0 used while device 1 is current.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtCreateEvent(&event));
  EXPECT_OK(aclrtRecordEvent(event, stream));
  EXPECT_OK(aclrtSetDevice(1));
  void *block = nullptr, *host = nullptr;
  EXPECT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMallocHost(&host, 64));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CONTEXT,
              aclrtMemcpyAsync(block, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CONTEXT, aclrtRecordEvent(event, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CONTEXT, aclrtStreamWaitEvent(nullptr, event));
  EXPECT_OK(aclrtFreeHost(host));
  EXPECT_OK(aclrtFree(block));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtDestroyEvent(event));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclFinalize());
  return Result();
}
