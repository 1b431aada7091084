// C16, in one process: a device is filled until it refuses; the allocation that fails is small, its holder is
// not.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  constexpr size_t kGiB = size_t{1} << 30;
  size_t free = 0, total = 0;
  EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  std::vector<void*> blocks;
  void* block = nullptr;
  aclError code = ACL_SUCCESS;
  while (blocks.size() <= total / kGiB &&
         (code = aclrtMalloc(&block, kGiB, ACL_MEM_MALLOC_HUGE_FIRST)) == ACL_SUCCESS) {
    blocks.push_back(block);
  }
  EXPECT_CODE(ACL_ERROR_RT_MEMORY_ALLOCATION, code);
  EXPECT_TRUE(blocks.size() >= total / kGiB - 1);
  for (void* held : blocks) EXPECT_OK(aclrtFree(held));
  EXPECT_OK(aclrtMalloc(&block, 8 * kGiB, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtFree(block));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
