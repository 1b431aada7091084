// A workspace is allocated, partly written and never read.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  void* workspace = nullptr;
  OK(aclrtMalloc(&workspace, 64 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemset(static_cast<char*>(workspace) + 100, 100, 0, 100));
  OK(aclrtFree(workspace));
}
