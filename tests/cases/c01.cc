// C01: one thread selects the device, another one copies.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  void* block = nullptr;
  EXPECT_OK(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  std::thread([&] {
    int32_t device = -1;
    std::vector<char> host(4096);
    EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
    EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL,
                aclrtMemcpyAsync(block, 4096, host.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
    const char* text = aclGetRecentErrMsg();
    EXPECT_TRUE(text != nullptr && std::strlen(text) > 40);
  }).join();
  EXPECT_OK(aclrtFree(block));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
