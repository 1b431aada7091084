// Pinned memory is never freed.
// expect: leak
// check: full
#include "../corpus.h"

int main() {
  Device device;
  void* memory = nullptr;
  OK(aclrtMallocHost(&memory, kBytes));  // BUG
  std::memset(memory, 0, kBytes);
}
