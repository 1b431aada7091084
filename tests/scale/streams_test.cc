// Ten thousand live streams over eight devices, each with work that waits: half of them held by hand, half
// blocked by a flag event of their device that nobody has recorded yet.
#include <acl/acl.h>
#include <belay/control.h>
#include <dirent.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int kDevices = 8;
constexpr size_t kPerDevice = 1250;
constexpr size_t kSlice = 64;
constexpr uint8_t kUnwritten = 0x5a;

int Threads() {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

struct Device {
  aclrtStream recorder = nullptr;
  aclrtEvent gate = nullptr;
  std::vector<aclrtStream> streams;
  uint8_t* slices = nullptr;  // of all streams, then a copy of each
  uint8_t* source = nullptr;  // pinned
};

// Held; the others wait for the gate.
bool Held(size_t stream) {
  return stream % 2 == 0;
}

class TenThousandStreams : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    for (int d = 0; d < kDevices; ++d) {
      ASSERT_EQ(aclrtSetDevice(d), ACL_SUCCESS);
      Device& device = devices_[d];
      ASSERT_EQ(aclrtCreateStream(&device.recorder), ACL_SUCCESS);
      ASSERT_EQ(aclrtCreateEventWithFlag(&device.gate, ACL_EVENT_SYNC), ACL_SUCCESS);
      void *block = nullptr, *pinned = nullptr;
      ASSERT_EQ(aclrtMalloc(&block, kBlock, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      ASSERT_EQ(aclrtMemset(block, kBlock, kUnwritten, kBlock), ACL_SUCCESS);
      device.slices = static_cast<uint8_t*>(block);
      ASSERT_EQ(aclrtMallocHost(&pinned, kHalf), ACL_SUCCESS);
      device.source = static_cast<uint8_t*>(pinned);
      for (size_t i = 0; i < kHalf; ++i)
        device.source[i] = static_cast<uint8_t>(i * 7 + i / kSlice * 13 + static_cast<size_t>(d));
      // A task too large for the call itself starts the workers; where only waits run tasks, a record that
      // others may wait for does.
      ASSERT_EQ(aclrtMalloc(&block, kLarge, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      ASSERT_EQ(aclrtMemsetAsync(block, kLarge, 1, kLarge, device.recorder), ACL_SUCCESS);
      aclrtEvent warm = nullptr;
      ASSERT_EQ(aclrtCreateEventWithFlag(&warm, ACL_EVENT_SYNC), ACL_SUCCESS);
      ASSERT_EQ(aclrtRecordEvent(warm, device.recorder), ACL_SUCCESS);
      ASSERT_EQ(aclrtSynchronizeStream(device.recorder), ACL_SUCCESS);
      ASSERT_EQ(aclrtDestroyEvent(warm), ACL_SUCCESS);
      ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
  }
  void TearDown() override {
    for (int d = 0; d < kDevices; ++d) {
      ASSERT_EQ(aclrtSetDevice(d), ACL_SUCCESS);
      EXPECT_EQ(aclrtFreeHost(devices_[d].source), ACL_SUCCESS);
      EXPECT_EQ(aclrtDestroyEvent(devices_[d].gate), ACL_SUCCESS);
      EXPECT_EQ(aclrtResetDeviceForce(d), ACL_SUCCESS);
    }
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }

  // Creates the streams and gives each its slice: into the slice, and from there into its copy.
  void Submit(int d) {
    Device& device = devices_[d];
    for (size_t i = 0; i < kPerDevice; ++i) {
      aclrtStream stream = nullptr;
      ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS) << i;
      device.streams.push_back(stream);
      if (Held(i)) {
        ASSERT_EQ(belay_hold_stream(stream), ACL_SUCCESS);
      } else {
        ASSERT_EQ(aclrtStreamWaitEvent(stream, device.gate), ACL_SUCCESS);
      }
      uint8_t* slice = device.slices + i * kSlice;
      ASSERT_EQ(aclrtMemcpyAsync(slice, kSlice, device.source + i * kSlice, kSlice, ACL_MEMCPY_HOST_TO_DEVICE,
                                 stream),
                ACL_SUCCESS);
      ASSERT_EQ(aclrtMemcpyAsync(slice + kHalf, kSlice, slice, kSlice, ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
                ACL_SUCCESS);
    }
  }
  // Whether the streams of the device did their work, by kind.
  void Expect(int d, bool held_done, bool gated_done) {
    std::vector<uint8_t> found(kBlock);
    ASSERT_EQ(aclrtMemcpy(found.data(), kBlock, devices_[d].slices, kBlock, ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    const std::vector<uint8_t> unwritten(kSlice, kUnwritten);
    for (size_t i = 0; i < kPerDevice; ++i) {
      const uint8_t* wanted =
          (Held(i) ? held_done : gated_done) ? devices_[d].source + i * kSlice : unwritten.data();
      ASSERT_EQ(memcmp(&found[i * kSlice], wanted, kSlice), 0) << "device " << d << " stream " << i;
      ASSERT_EQ(memcmp(&found[kHalf + i * kSlice], wanted, kSlice), 0) << "device " << d << " stream " << i;
    }
  }

  static constexpr size_t kHalf = kPerDevice * kSlice, kBlock = 2 * kHalf, kLarge = 4 << 20;
  Device devices_[kDevices];
};

TEST_F(TenThousandStreams, EachWithAPendingTask) {
  const int threads = Threads();
  for (int d = 0; d < kDevices; ++d) {
    ASSERT_EQ(aclrtSetDevice(d), ACL_SUCCESS);
    ASSERT_NO_FATAL_FAILURE(Submit(d));
  }
  EXPECT_EQ(Threads(), threads) << "threads must not grow with streams";
  // Nothing of it has happened; every stream has its tasks before it.
  for (int d = 0; d < kDevices; ++d) {
    ASSERT_EQ(aclrtSetDevice(d), ACL_SUCCESS);
    ASSERT_NO_FATAL_FAILURE(Expect(d, false, false));
    for (size_t i = 0; i < kPerDevice; ++i) {
      size_t count = 0;
      ASSERT_EQ(belay_list_pending(devices_[d].streams[i], nullptr, 0, &count), ACL_SUCCESS);
      ASSERT_EQ(count, Held(i) ? 2u : 3u) << "device " << d << " stream " << i;
      aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
      ASSERT_EQ(aclrtStreamQuery(devices_[d].streams[i], &status), ACL_SUCCESS);
      ASSERT_EQ(status, ACL_STREAM_STATUS_NOT_READY) << "device " << d << " stream " << i;
    }
  }
  // One record lets the blocked half of its device go, and nobody else. The youngest stream is waited for
  // first.
  for (int d = 0; d < kDevices; ++d) {
    ASSERT_EQ(aclrtSetDevice(d), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(devices_[d].gate, devices_[d].recorder), ACL_SUCCESS);
    for (size_t i = kPerDevice; i-- > 0;) {
      if (Held(i)) continue;
      ASSERT_EQ(aclrtSynchronizeStream(devices_[d].streams[i]), ACL_SUCCESS) << d << " " << i;
    }
    ASSERT_NO_FATAL_FAILURE(Expect(d, false, true));
    if (d + 1 < kDevices) {
      ASSERT_EQ(aclrtSetDevice(d + 1), ACL_SUCCESS);
      ASSERT_NO_FATAL_FAILURE(Expect(d + 1, false, false));
    }
  }
  EXPECT_EQ(Threads(), threads);
  for (int d = 0; d < kDevices; ++d) {
    ASSERT_EQ(aclrtSetDevice(d), ACL_SUCCESS);
    for (size_t i = 0; i < kPerDevice; ++i) {
      if (!Held(i)) continue;
      ASSERT_EQ(belay_release_stream(devices_[d].streams[i]), ACL_SUCCESS) << d << " " << i;
    }
    ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    ASSERT_NO_FATAL_FAILURE(Expect(d, true, true));
    for (aclrtStream stream : devices_[d].streams) ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  }
  EXPECT_EQ(Threads(), threads) << "nor with what they ran";
}

}  // namespace
