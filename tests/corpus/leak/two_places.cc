// Two places leak: each is a finding of its own.
// expect: leak*2
// check: full
#include "../corpus.h"

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  void* memory = nullptr;
  aclrtEvent event = nullptr;
  OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));  // BUG
  OK(aclrtCreateEvent(&event));                                 // BUG
}
