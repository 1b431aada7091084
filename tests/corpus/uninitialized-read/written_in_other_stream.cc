// Another stream fills the buffer; an event puts that before the copy.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream fill, fetch;
  Event filled;
  PinnedMemory result;
  void* memory = nullptr;
  OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemsetAsync(memory, kBytes, 'a', kBytes, fill));
  OK(aclrtRecordEvent(filled, fill));
  OK(aclrtStreamWaitEvent(fetch, filled));
  OK(aclrtMemcpyAsync(result, kBytes, memory, kBytes, kToHost, fetch));
  OK(aclrtSynchronizeStream(fetch));
  OK(aclrtFree(memory));
}
