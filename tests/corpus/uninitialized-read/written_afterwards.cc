// The buffer is fetched first and filled afterwards, in one stream.
// expect: uninitialized-read
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  PinnedMemory result;
  void* memory = nullptr;
  OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpyAsync(result, kBytes, memory, kBytes, kToHost, stream));  // BUG
  OK(aclrtMemsetAsync(memory, kBytes, 'a', kBytes, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtFree(memory));
}
