// A loop allocates, fills, fetches and frees; the addresses come back after a while.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  static char result[kBytes];
  for (int round = 0; round < 200; ++round) {
    void* memory = nullptr;
    OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(memory, kBytes, round, kBytes));
    OK(aclrtMemcpy(result, kBytes, memory, kBytes, kToHost));
    OK(aclrtFree(memory));
    if (result[kBytes - 1] != static_cast<char>(round)) return 1;
  }
}
