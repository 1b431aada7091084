// A block is allocated by one thread and freed by another.
// expect: none
// check: full
#include "../workers.h"

int main() {
  Device device;
  void* memory = nullptr;
  InThread([&] { OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST)); });
  InThread([&] { OK(aclrtFree(memory)); });
}
