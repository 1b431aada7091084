// Device memory is filled in the stream that then fetches it.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream stream;
  PinnedMemory result;
  void* memory = nullptr;
  OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemsetAsync(memory, kBytes, 'a', kBytes, stream));
  OK(aclrtMemcpyAsync(result, kBytes, memory, kBytes, kToHost, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtFree(memory));
  return result[0] == 'a' ? 0 : 1;
}
