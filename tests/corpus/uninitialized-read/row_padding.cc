// Rows are uploaded with a pitch, and the whole matrix is fetched as one linear range with its padding.
// expect: uninitialized-read
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
  OK(aclrtMemcpyAsync(result, kBytes, matrix, kPitch * kRows, kToHost, stream));  // BUG
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtFree(matrix));
}
