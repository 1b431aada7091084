// C40: an allocation fails with the code of exhausted memory, because the device broke before: the text of
// the message names the fault first.
#include <belay/control.h>

#include <string>

#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  void *block = nullptr, *more = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(belay_fail_next_task(stream, ACL_ERROR_RT_DEVICE_MEM_ERROR));
  EXPECT_OK(aclrtMemsetAsync(block, 4096, 1, 4096, stream));
  EXPECT_CODE(ACL_ERROR_RT_DEVICE_MEM_ERROR, aclrtSynchronizeStream(stream));
  aclGetRecentErrMsg();
  EXPECT_CODE(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&more, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_TRUE(more == nullptr);
  const char* message = aclGetRecentErrMsg();
  const std::string text = message != nullptr ? message : "";
  const size_t fault = text.find("broken since a fault with code 507053"), memory = text.find("memory");
  EXPECT_TRUE(fault != std::string::npos && fault < memory);
  EXPECT_TRUE(text.find("submitted by aclrtMemsetAsync") != std::string::npos);
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtResetDeviceForce(0));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtMalloc(&more, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtFree(more));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
