// Every way in which the host may know that a copy is complete, also by way of another stream.
#include "program.h"

unsigned char* g_host;

void Use(void*) {
  g_host[0] = 1;
}

int main() {
  Begin();
  aclrtStream stream = nullptr, other = NewStream();
  EXPECT_OK(aclrtCreateStream(&stream));
  aclrtEvent event = nullptr, early = nullptr;
  aclrtNotify notify = nullptr;
  EXPECT_OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  EXPECT_OK(aclrtCreateEventExWithFlag(&early, ACL_EVENT_SYNC));
  EXPECT_OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  unsigned char* device = NewDevice();
  g_host = NewPinned();
  auto fetch = [&] { EXPECT_OK(aclrtMemcpyAsync(g_host, kBytes, device, kBytes, kDown, stream)); };
  auto use = [] {
    EXPECT_TRUE(g_host[0] == 1 && g_host[kBytes - 1] == 1);
    g_host[0] = 2;
  };

  fetch();
  EXPECT_OK(aclrtSynchronizeDevice());
  use();

  fetch();
  EXPECT_OK(aclrtRecordEvent(event, stream));
  EXPECT_OK(aclrtSynchronizeEvent(event));
  use();

  fetch();
  EXPECT_OK(aclrtRecordEvent(event, stream));
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  while (recorded != ACL_EVENT_RECORDED_STATUS_COMPLETE) EXPECT_OK(aclrtQueryEventStatus(event, &recorded));
  use();

  fetch();
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE) EXPECT_OK(aclrtStreamQuery(stream, &status));
  use();

  fetch();
  EXPECT_OK(aclrtRecordEvent(event, stream));
  EXPECT_OK(aclrtStreamWaitEvent(other, event));
  EXPECT_OK(aclrtSynchronizeStream(other));
  use();

  fetch();
  EXPECT_OK(aclrtRecordNotify(notify, stream));
  EXPECT_OK(aclrtWaitAndResetNotify(notify, other, 0));
  EXPECT_OK(aclrtSynchronizeStream(other));
  use();

  fetch();
  EXPECT_OK(aclrtLaunchHostFunc(stream, Use, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  use();

  fetch();
  EXPECT_OK(aclrtDestroyStream(stream));
  use();
  EXPECT_OK(aclrtCreateStream(&stream));

  // An event that was recorded before the copy says nothing about it.
  EXPECT_OK(aclrtRecordEvent(early, stream));
  EXPECT_OK(aclrtMemcpyAsync(g_host, kBytes, device, kBytes, kDown, stream));  // last here
  EXPECT_OK(aclrtRecordEvent(event, stream));
  EXPECT_OK(aclrtSynchronizeEvent(BAD ? early : event));
  g_host[1] = 3;  // BUG host-target-early: last
  EXPECT_OK(aclrtSynchronizeStream(stream));

  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtDestroyEvent(event));
  EXPECT_OK(aclrtDestroyEvent(early));
  EXPECT_OK(aclrtDestroyNotify(notify));
  EXPECT_OK(aclrtFreeHost(g_host));
  EXPECT_OK(aclrtFree(device));
  return End();
}
