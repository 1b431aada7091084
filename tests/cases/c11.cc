// C11: an asynchronous copy from memory of malloc, which is pageable.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  constexpr size_t kSize = 1 << 20;
  void* block = nullptr;
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtCreateStream(&stream));
  void* pageable = std::malloc(kSize);
  std::memset(pageable, 7, kSize);
  EXPECT_OK(aclrtMemcpyAsync(block, kSize, pageable, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  std::vector<char> back(kSize);
  EXPECT_OK(aclrtMemcpy(back.data(), kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_TRUE(back == std::vector<char>(kSize, 7));
  std::free(pageable);
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtFree(block));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
