// A loop allocates device memory and frees every block.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  for (int round = 0; round < 10; ++round) {
    void* memory = nullptr;
    OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(memory));
  }
}
