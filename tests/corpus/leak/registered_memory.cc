// Memory is registered for copies and never unregistered.
// expect: leak
// check: full
#include "../corpus.h"

int main() {
  Device device;
  void* mapped = nullptr;
  static void* const memory = std::aligned_alloc(4096, kBytes);
  OK(aclrtHostRegister(memory, kBytes, ACL_HOST_REGISTER_MAPPED, &mapped));  // BUG
}
