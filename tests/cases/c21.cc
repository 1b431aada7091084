// C21: host memory is registered from 16 bytes after the start of its page.
#include <unistd.h>

#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* memory = static_cast<char*>(std::aligned_alloc(page, 2 * page));
  void* alias = nullptr;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtHostRegister(memory + 16, page, ACL_HOST_REGISTER_MAPPED, &alias));
  EXPECT_TRUE(alias == nullptr);
  EXPECT_OK(aclrtHostRegister(memory, page, ACL_HOST_REGISTER_MAPPED, &alias));
  EXPECT_OK(aclrtHostUnregister(memory));
  std::free(memory);
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
