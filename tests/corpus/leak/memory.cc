// A loop allocates device memory and frees only the last block.
// expect: leak
// check: full
#include "../corpus.h"

int main() {
  Device device;
  void* memory = nullptr;
  for (int round = 0; round < 10; ++round) {
    OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));  // BUG
  }
  OK(aclrtFree(memory));
}
