// One byte more is fetched than was uploaded.
// expect: uninitialized-read
// check: full
#include "../corpus.h"

int main() {
  Device device;
  void* memory = nullptr;
  static char source[kBytes], result[kBytes];
  OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpy(memory, kBytes, source, 3000, kToDevice));
  OK(aclrtMemcpy(result, kBytes, memory, 3001, kToHost));  // BUG
  OK(aclrtFree(memory));
}
