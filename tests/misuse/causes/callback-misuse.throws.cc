// A host function throws: nobody is there to catch it.
// finding: callback-misuse error
// says: host function threw .*: no such file
#include <stdexcept>

#include "cause.h"

namespace {
void Open(void* failed) {
#if BAD
  static_cast<void>(failed);
  throw std::runtime_error("no such file");
#else
  *static_cast<bool*>(failed) = true;
#endif
}
}  // namespace

int main() {
  Begin();
  aclrtStream stream = NewStream();
  Bytes bytes;
  bool failed = false;
  EXPECT_OK(aclrtLaunchHostFunc(stream, Open, &failed));  // BUG
  bytes.Fill('a', stream);
  bytes.Fetch(stream);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  bytes.End('a');
  EXPECT_OK(aclrtDestroyStream(stream));
  return failed == BAD ? 1 : End();
}
