// An event for each step, and none is destroyed.
// expect: leak
// check: full
#include "../corpus.h"

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  Stream stream;
  for (int step = 0; step < 5; ++step) {
    aclrtEvent done = nullptr;
    OK(aclrtCreateEvent(&done));  // BUG
    OK(aclrtRecordEvent(done, stream));
    OK(aclrtSynchronizeEvent(done));
  }
}
