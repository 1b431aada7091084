// Fresh device memory is fetched before anything was written to it.
// expect: uninitialized-read
// check: full
#include "../corpus.h"

int main() {
  Device device;
  void* memory = nullptr;
  static char result[kBytes];
  OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));  // first
  OK(aclrtMemcpy(result, kBytes, memory, kBytes, kToHost));     // BUG
  OK(aclrtFree(memory));
}
