// A ring of four parts waits for the copy before the one that used the part.
// expect: host-source-changed
// check: full
#include "../corpus.h"

constexpr size_t kPart = 1000;

int main() {
  Device device;
  Stream stream;
  DeviceMemory input;
  PinnedMemory ring;
  Event copied[5];
  for (int i = 0; i < 40; ++i) {
    char* const part = ring + i % 4 * kPart;
    if (i >= 5) OK(aclrtSynchronizeEvent(copied[i % 5]));
    std::memset(part, i, kPart);                                         // BUG
    OK(aclrtMemcpyAsync(input, kPart, part, kPart, kToDevice, stream));  // first
    OK(aclrtRecordEvent(copied[i % 5], stream));
  }
  OK(aclrtSynchronizeStream(stream));
}
