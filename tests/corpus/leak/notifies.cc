// A notify is never destroyed.
// expect: leak
// check: full
#include "../corpus.h"

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  Stream stream;
  aclrtNotify notify = nullptr;
  OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));  // BUG
  OK(aclrtRecordNotify(notify, stream));
  OK(aclrtWaitAndResetNotify(notify, stream, 0));
  OK(aclrtSynchronizeStream(stream));
}
