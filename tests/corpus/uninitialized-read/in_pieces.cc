// Two uploads together cover what is fetched.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  PinnedMemory source, result;
  void* memory = nullptr;
  OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  char* const rest = static_cast<char*>(memory) + 1000;
  OK(aclrtMemcpyAsync(rest, kBytes - 1000, source, 2000, kToDevice, stream));
  OK(aclrtMemcpyAsync(memory, kBytes, source, 1000, kToDevice, stream));
  OK(aclrtMemcpyAsync(result, kBytes, memory, 3000, kToHost, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtFree(memory));
}
