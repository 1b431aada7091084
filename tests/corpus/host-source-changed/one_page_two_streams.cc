// Two streams upload from one page; the part of the stream that is done is refilled.
// expect: none
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream one, other;
  DeviceMemory first(64), second(64);
  PinnedMemory page(4096);
  OK(aclrtMemcpyAsync(first, 64, page, 64, kToDevice, one));
  OK(aclrtMemcpyAsync(second, 64, page + 64, 64, kToDevice, other));
  OK(aclrtSynchronizeStream(one));
  page[0] = 1;
  OK(aclrtSynchronizeStream(other));
  page[64] = 1;
}
