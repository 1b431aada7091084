// C27: a static object owns a stream and a buffer, and gives them back after main has finalised.
#include <unistd.h>

#include "case.h"

struct Owner {
  ~Owner() {
    const bool stream_late = aclrtDestroyStream(stream) == ACL_ERROR_UNINITIALIZE;
    const bool block_late = aclrtFree(block) == ACL_SUCCESS;
    if (!stream_late || !block_late) _exit(1);
  }
  aclrtStream stream = nullptr;
  void* block = nullptr;
} owner;

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtCreateStream(&owner.stream));
  EXPECT_OK(aclrtMalloc(&owner.block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclFinalize());
  return Result();
}
