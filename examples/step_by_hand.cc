// A test that decides itself which task runs next: include/belay/control.h, which only Belay has.
//
// A producer fills device memory, a consumer copies it to the host. The test holds both streams and lands the
// consumer first, which is allowed as long as no event orders the two. Then it breaks the device and mends
// it. docs/guide/step-by-hand.md explains it. Exit code 0 means that every call did what the test expects.
#include <acl/acl.h>
#include <belay/control.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr size_t kBytes = 4096;

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n  %s\n", what, aclGetRecentErrMsg());
  std::exit(1);
}
#define EXPECT(condition) Expect((condition), #condition)
#define OK(call) Expect((call) == ACL_SUCCESS, #call)

bool LandOne(aclrtStream stream) {
  int landed = 0;
  OK(belay_land_one(stream, &landed));
  return landed != 0;
}

size_t ListPending(const char* name, aclrtStream stream) {
  belay_pending_task tasks[4];
  size_t count = 0;
  OK(belay_list_pending(stream, tasks, 4, &count));
  for (size_t i = 0; i < count; ++i) {
    std::printf("  %s, task %u: %s%s\n", name, tasks[i].task, tasks[i].api,
                tasks[i].waiting ? ", waits" : "");
  }
  return count;
}

// What the consumer reads when it is as fast as it can be.
char ReadEarly(bool with_event) {
  aclrtStream producer = nullptr, consumer = nullptr;
  aclrtEvent filled = nullptr;
  void *device = nullptr, *host = nullptr;
  OK(aclrtCreateStream(&producer));
  OK(aclrtCreateStream(&consumer));
  OK(aclrtCreateEvent(&filled));
  OK(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMallocHost(&host, kBytes));
  OK(aclrtMemset(device, kBytes, 'o', kBytes));

  OK(belay_hold_stream(producer));
  OK(belay_hold_stream(consumer));
  OK(aclrtMemsetAsync(device, kBytes, 'n', kBytes, producer));
  OK(aclrtRecordEvent(filled, producer));
  if (with_event) OK(aclrtStreamWaitEvent(consumer, filled));
  OK(aclrtMemcpyAsync(host, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, consumer));

  if (with_event) {
    EXPECT(!LandOne(consumer));  // its wait is not met, so nothing behind it runs
    EXPECT(ListPending("producer", producer) == 2);
    EXPECT(ListPending("consumer", consumer) == 2);
    EXPECT(LandOne(producer) && LandOne(producer));  // the memset, then the record
    EXPECT(LandOne(consumer));                       // now the wait passes
  }
  EXPECT(LandOne(consumer));  // the copy
  OK(belay_release_stream(consumer));
  OK(aclrtSynchronizeStream(consumer));
  const char read = *static_cast<char*>(host);

  OK(belay_release_stream(producer));
  OK(aclrtSynchronizeStream(producer));
  OK(aclrtFreeHost(host));
  OK(aclrtFree(device));
  OK(aclrtDestroyEvent(filled));
  OK(aclrtDestroyStream(consumer));
  OK(aclrtDestroyStream(producer));
  return read;
}

void BreakAndMend() {
  aclrtStream stream = nullptr;
  void *device = nullptr, *more = nullptr;
  OK(aclrtCreateStream(&stream));
  OK(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));

  // One task fails. The call that waits for it says so once; the stream goes on.
  OK(belay_fail_next_task(stream, ACL_ERROR_RT_AICORE_EXCEPTION));
  OK(aclrtMemsetAsync(device, kBytes, 'x', kBytes, stream));
  EXPECT(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_AICORE_EXCEPTION);
  OK(aclrtSynchronizeStream(stream));

  // The device breaks. Every submission and wait meets the code until the device is mended.
  OK(belay_fail_device(0, ACL_ERROR_RT_DEVICE_MEM_ERROR, nullptr));
  EXPECT(aclrtMemsetAsync(device, kBytes, 'x', kBytes, stream) == ACL_ERROR_RT_DEVICE_MEM_ERROR);
  EXPECT(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_DEVICE_MEM_ERROR);
  EXPECT(aclrtMalloc(&more, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_RT_MEMORY_ALLOCATION);
  OK(aclrtFree(device));
  OK(aclrtDestroyStream(stream));
  OK(aclrtResetDeviceForce(0));
  OK(aclrtSetDevice(0));
  OK(aclrtMalloc(&more, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtFree(more));
}

}  // namespace

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  char read = ReadEarly(false);
  std::printf("without the event the consumer reads '%c'\n", read);
  EXPECT(read == 'o');
  read = ReadEarly(true);
  std::printf("with the event the consumer reads '%c'\n", read);
  EXPECT(read == 'n');
  BreakAndMend();
  std::printf("the device broke and was mended\n");
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
  return 0;
}
