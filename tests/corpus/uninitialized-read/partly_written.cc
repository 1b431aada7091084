// A shorter input is uploaded, and the whole buffer is fetched.
// expect: uninitialized-read
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  PinnedMemory source, result;
  void* memory = nullptr;
  OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpyAsync(memory, kBytes, source, 1000, kToDevice, stream));
  OK(aclrtMemcpyAsync(result, kBytes, memory, kBytes, kToHost, stream));  // BUG
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtFree(memory));
}
