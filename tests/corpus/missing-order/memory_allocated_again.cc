// Memory is freed once its stream is done, allocated again and used in another stream.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream one, other;
  for (int round = 0; round < 100; ++round) {
    const Stream& stream = round % 2 ? one : other;
    void* memory = nullptr;
    OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemsetAsync(memory, kBytes, round, kBytes, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtFree(memory));
  }
}
