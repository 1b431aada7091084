// A function that returns early leaves its block behind.
// expect: leak
// check: full
#include "../corpus.h"

bool Work(int round) {
  void* memory = nullptr;
  OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));  // BUG
  if (round == 3) return false;
  OK(aclrtFree(memory));
  return true;
}

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  for (int round = 0; round < 5; ++round) Work(round);
}
