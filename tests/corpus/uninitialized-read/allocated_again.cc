// Memory is freed and allocated again: what was written before the free is gone.
// expect: uninitialized-read
// check: full
#include "../corpus.h"

int main() {
  Device device;
  void* memory = nullptr;
  static char result[kBytes];
  OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemset(memory, kBytes, 'a', kBytes));
  OK(aclrtFree(memory));
  OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpy(result, kBytes, memory, kBytes, kToHost));  // BUG
  OK(aclrtFree(memory));
}
