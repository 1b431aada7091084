// A host function fills the source of a later copy and reads the target of an earlier one: it is ordered with
// both. A host function of a stream that has no order with the copy is not.
#include "program.h"

unsigned char *g_source, *g_target;
std::atomic<int> g_sum{0};

void Fill(void*) {
  for (size_t i = 0; i < kBytes; ++i) g_source[i] = 5;
}
void Sum(void*) {
  int sum = 0;
  for (size_t i = 0; i < kBytes; ++i) sum += g_target[i];
  g_sum = sum;
}
void Disturb(void*) {
  g_source[9] = 5;  // BUG host-source-changed: up
}

int main() {
  Begin();
  aclrtStream stream = NewStream(), other = NewStream(), third = NewStream();
  aclrtEvent filled = nullptr;
  EXPECT_OK(aclrtCreateEventExWithFlag(&filled, ACL_EVENT_SYNC));
  unsigned char* device = NewDevice();
  g_source = NewPinned();
  g_target = NewPinned();
  for (int step = 0; step < 3; ++step) {
    g_sum = 0;
    EXPECT_OK(aclrtLaunchHostFunc(stream, Fill, nullptr));
    EXPECT_OK(aclrtRecordEvent(filled, stream));
    EXPECT_OK(aclrtStreamWaitEvent(other, filled));
    EXPECT_OK(aclrtMemcpyAsync(device, kBytes, g_source, kBytes, kUp, other));  // up here
    EXPECT_OK(aclrtMemcpyAsync(g_target, kBytes, device, kBytes, kDown, other));
    if (BAD && step == 2) {
      EXPECT_OK(aclrtSynchronizeStream(stream));  // while the function fills, everybody may
      EXPECT_OK(aclrtLaunchHostFunc(third, Disturb, nullptr));
      EXPECT_OK(aclrtSynchronizeStream(third));
    }
    EXPECT_OK(aclrtLaunchHostFunc(other, Sum, nullptr));  // the start of it tells the host of the copies
    EXPECT_OK(aclrtSynchronizeStream(other));
    EXPECT_TRUE(g_sum == 5 * static_cast<int>(kBytes));
  }
  EXPECT_OK(aclrtDestroyEvent(filled));
  EXPECT_OK(aclrtFreeHost(g_source));
  EXPECT_OK(aclrtFreeHost(g_target));
  EXPECT_OK(aclrtFree(device));
  return End();
}
