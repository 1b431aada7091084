// Rows are fetched one byte wider than they were uploaded.
// expect: uninitialized-read
// check: full
#include "../corpus.h"

constexpr size_t kPitch = 512, kWidth = 300, kRows = 100;

int main() {
  Device device;
  PinnedMemory source, result;
  void* matrix = nullptr;
  OK(aclrtMalloc(&matrix, kPitch * kRows, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpy2d(matrix, kPitch, source, kWidth, kWidth, kRows, kToDevice));
  OK(aclrtMemcpy2d(result, kPitch, matrix, kPitch, kWidth + 1, kRows, kToHost));  // BUG
  OK(aclrtFree(matrix));
}
