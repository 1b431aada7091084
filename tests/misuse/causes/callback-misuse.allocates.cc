// A host function allocates: the call works, and breaks the rule for what a callback may do.
// finding: callback-misuse error
// says: aclrtMalloc is called inside a host function
#include "cause.h"

namespace {
void* g_scratch = nullptr;

void Allocate(void*) {
#if BAD
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtMalloc(&g_scratch, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));  // BUG
#endif
}
}  // namespace

int main() {
  Begin();
  aclrtStream stream = NewStream();
  Bytes bytes;
#if !BAD
  EXPECT_OK(aclrtMalloc(&g_scratch, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#endif
  EXPECT_OK(aclrtLaunchHostFunc(stream, Allocate, nullptr));  // submitted here
  bytes.Fill('a', stream);
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  bytes.End('a');
  EXPECT_OK(aclrtFree(g_scratch));
  EXPECT_OK(aclrtDestroyStream(stream));
  return End();
}
