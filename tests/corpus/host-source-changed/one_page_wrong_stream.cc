// Two streams upload from one page; the part of the stream that is not done is refilled.
// expect: host-source-changed
// check: full
#include "../corpus.h"

int main() {
  Device device;
  Stream one, other;
  DeviceMemory first(64), second(64);
  PinnedMemory page(4096);
  OK(aclrtMemcpyAsync(first, 64, page, 64, kToDevice, one));
  OK(aclrtMemcpyAsync(second, 64, page + 64, 64, kToDevice, other));  // first
  OK(aclrtSynchronizeStream(one));
  page[64] = 1;  // BUG
  OK(aclrtSynchronizeStream(other));
}
