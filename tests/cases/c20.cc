// C20: memory, a stream and an event are made in a loop and never given back; then the process ends.
#include "case.h"

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  for (int step = 0; step < 10; ++step) {
    void* block = nullptr;
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    EXPECT_OK(aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_OK(aclrtCreateStream(&stream));
    EXPECT_OK(aclrtCreateEvent(&event));
    EXPECT_OK(aclrtMemsetAsync(block, 1000, step, 1000, stream));
    EXPECT_OK(aclrtRecordEvent(event, stream));
    EXPECT_OK(aclrtSynchronizeStream(stream));
  }
  return Result();
}
