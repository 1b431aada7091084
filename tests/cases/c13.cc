// C13: a copy of rows on the board form of the 200I family, which has none.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  void* block = nullptr;
  EXPECT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  char host[64] = {};
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtMemcpy2d(block, 8, host, 8, 4, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  for (size_t row = 0; row < 8; ++row) {
    EXPECT_OK(
        aclrtMemcpy(static_cast<char*>(block) + 8 * row, 4, host + 8 * row, 4, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  EXPECT_OK(aclrtFree(block));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
