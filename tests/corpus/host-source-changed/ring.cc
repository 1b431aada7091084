// A ring of four parts: the one that is filled is never among those that are queued.
// expect: none
// check: full
#include "../corpus.h"

constexpr size_t kPart = 1000;

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory ring;
  Event copied[4];
  for (int i = 0; i < 40; ++i) {
    const int part = i % 4;
    if (i >= 4) OK(aclrtSynchronizeEvent(copied[part]));
    std::memset(ring + part * kPart, i, kPart);
    OK(aclrtMemcpyAsync(input, kPart, ring + part * kPart, kPart, kToDevice, stream));
    OK(aclrtRecordEvent(copied[part], stream));
  }
  OK(aclrtSynchronizeStream(stream));
}
