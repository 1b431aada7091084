// check=full over many tasks: what the checks keep in mind does not grow with them. BELAY_SCALE_TASKS says
// how many.
#include <acl/acl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr size_t kBytes = 4096;

// Bytes of this process in memory.
size_t Resident() {
  unsigned long pages = 0, resident = 0;
  FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr || std::fscanf(file, "%lu %lu", &pages, &resident) != 2) abort();
  std::fclose(file);
  return resident * static_cast<size_t>(getpagesize());
}

int Tasks() {
  const char* text = getenv("BELAY_SCALE_TASKS");
  return text != nullptr ? atoi(text) : 300'000;
}

#define OK(call) ASSERT_EQ(call, ACL_SUCCESS)

class ManyTasks : public testing::Test {
 protected:
  void SetUp() override {
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&device_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned_, kBytes));
  }
  void TearDown() override {
    OK(aclrtFreeHost(pinned_));
    OK(aclrtFree(device_));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
  }

  // AddressSanitizer keeps freed memory in quarantine and ThreadSanitizer a shadow: there the process grows
  // anyway.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr size_t kMostGrowth = size_t{1} << 40;
#else
  static constexpr size_t kMostGrowth = size_t{1} << 20;
#endif
  void* device_ = nullptr;
  void* pinned_ = nullptr;
};

// Nobody ever synchronises the streams in the middle of the chain.
TEST_F(ManyTasks, OfStreamsThatWaitForEachOther) {
  aclrtStream streams[3];
  aclrtEvent events[3];
  for (aclrtStream& stream : streams) OK(aclrtCreateStream(&stream));
  for (aclrtEvent& event : events) OK(aclrtCreateEvent(&event));
  size_t before = 0;
  const int rounds = Tasks() / 9;
  for (int round = 0; round < rounds; ++round) {
    if (round == rounds / 10) before = Resident();
    OK(aclrtMemcpyAsync(device_, kBytes, pinned_, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
    for (int i = 0; i < 3; ++i) {
      OK(aclrtRecordEvent(events[i], streams[i]));
      OK(aclrtStreamWaitEvent(streams[(i + 1) % 3], events[i]));
      if (i < 2) {
        OK(aclrtMemsetAsync(device_, kBytes, i, kBytes / 2, streams[i + 1]));
      }
    }
    if (round % 4 == 3) {
      OK(aclrtSynchronizeStream(streams[2]));
    }
  }
  EXPECT_LE(Resident(), before + kMostGrowth);
  OK(aclrtSynchronizeDevice());
  for (aclrtEvent event : events) OK(aclrtDestroyEvent(event));
  for (aclrtStream stream : streams) OK(aclrtDestroyStream(stream));
}

TEST_F(ManyTasks, OfShortStreamsAndTheirSignals) {
  size_t before = 0;
  constexpr int kStreams = 10'000;
  for (int i = 0; i < kStreams; ++i) {
    if (i == kStreams / 10) before = Resident();
    aclrtStream stream = nullptr;
    aclrtNotify notify = nullptr;
    aclrtEvent event = nullptr;
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtMemcpyAsync(pinned_, kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtRecordNotify(notify, stream));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtDestroyStream(stream));
    OK(aclrtDestroyNotify(notify));
    OK(aclrtDestroyEvent(event));
  }
  EXPECT_LE(Resident(), before + kMostGrowth);
}

}  // namespace
