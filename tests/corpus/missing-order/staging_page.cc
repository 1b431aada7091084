// Two streams fetch small results into one page of pinned memory, each into its own part.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream one, other;
  DeviceMemory first(64), second(64);
  PinnedMemory page(4096);
  OK(aclrtMemcpyAsync(page, 64, first, 64, kToHost, one));
  OK(aclrtMemcpyAsync(page + 64, 64, second, 64, kToHost, other));
  OK(aclrtSynchronizeStream(one));
  OK(aclrtSynchronizeStream(other));
  return page[0] == 0 && page[64] == 0 ? 0 : 1;
}
