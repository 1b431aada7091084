// A context is made for a thread and never destroyed.
// expect: leak
// check: full
#include "../corpus.h"

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  aclrtContext usual = nullptr, own = nullptr;
  OK(aclrtGetCurrentContext(&usual));
  OK(aclrtCreateContext(&own, 0));  // BUG
  OK(aclrtSetCurrentContext(usual));
}
