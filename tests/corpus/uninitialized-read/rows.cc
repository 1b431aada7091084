// Rows are uploaded with a pitch and fetched with it.
// expect: none
// check: full
#include "../corpus.h"

constexpr size_t kPitch = 512, kWidth = 300, kRows = 100;

int main() {
  Device device;
  Stream stream;
  PinnedMemory source, result;
  void* matrix = nullptr;
  OK(aclrtMalloc(&matrix, kPitch * kRows, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpy2dAsync(matrix, kPitch, source, kWidth, kWidth, kRows, kToDevice, stream));
  OK(aclrtMemcpy2dAsync(result, kWidth, matrix, kPitch, kWidth, kRows, kToHost, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtFree(matrix));
}
