// SPEC 32 §3, §4: which device executes a copy between devices, and what it may reach.
#include "support.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

class CrossDevice : public Clean {
 protected:
  static constexpr int kFrom = 0, kTo = 1, kThird = 2;
  inline static std::vector<void*> allocated_;  // until the end of the test

  void SetUp() override {
    Clean::SetUp();
    ASSERT_GE(DeviceCount(), 3);
    for (int device : {2, 1, 0}) ASSERT_OK(aclrtSetDevice(device));
  }
  void TearDown() override {
    for (void* block : std::exchange(allocated_, {})) EXPECT_OK(aclrtFree(block));
    Clean::TearDown();
  }
  static void* Allocate(int device, uint32_t seed, size_t size = kSize) {
    EXPECT_OK(aclrtSetDevice(device));
    void* ptr = nullptr;
    EXPECT_OK(aclrtMalloc(&ptr, size, ACL_MEM_MALLOC_HUGE_FIRST));
    allocated_.push_back(ptr);
    Write(ptr, seed, size);
    return ptr;
  }
  static void Write(void* ptr, uint32_t seed, size_t size = kSize) {
    const Bytes content = Pattern(size, seed);
    EXPECT_OK(aclrtMemcpy(ptr, size, content.data(), size, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  static Bytes Read(void* ptr, size_t size = kSize) {
    Bytes bytes(size);
    EXPECT_OK(aclrtMemcpy(bytes.data(), size, ptr, size, ACL_MEMCPY_DEVICE_TO_HOST));
    return bytes;
  }
  static void Open(int from, int to, bool open = true) {
    ASSERT_OK(aclrtSetDevice(from));
    if (open) {
      ASSERT_OK(aclrtDeviceEnablePeerAccess(to, 0));
    } else {
      ASSERT_OK(aclrtDeviceDisablePeerAccess(to));
    }
  }

  // Tries every current device against every set of the four directions that can matter.
  template <typename Copy>
  static void TryAll(bool executor_is_current, Copy copy) {
    void* from = Allocate(kFrom, 1);
    void* to = Allocate(kTo, 2);
    for (int set = 0; set < 16; ++set) {
      bool open[3][3] = {};
      open[kFrom][kTo] = set & 1;
      open[kTo][kFrom] = set & 2;
      open[kThird][kFrom] = set & 4;
      open[kThird][kTo] = set & 8;
      Open(kFrom, kTo, open[kFrom][kTo]);
      Open(kTo, kFrom, open[kTo][kFrom]);
      Open(kThird, kFrom, open[kThird][kFrom]);
      Open(kThird, kTo, open[kThird][kTo]);
      for (int current : {kFrom, kTo, kThird}) {
        ASSERT_OK(aclrtSetDevice(current));
        Write(to, 2);
        const int executor = executor_is_current || current != kThird ? current : kTo;
        bool allowed = true;
        for (int owner : {kFrom, kTo}) allowed = allowed && (owner == executor || open[executor][owner]);
        const aclError expected = allowed ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID;
        ASSERT_ACL(expected, copy(to, from)) << "current " << current << ", open set " << set;
        ASSERT_EQ(Read(to), Pattern(kSize, allowed ? 1 : 2)) << "current " << current << ", open set " << set;
      }
    }
    EXPECT_EQ(Read(from), Pattern(kSize, 1));
  }
};

TEST_F(CrossDevice, SynchronousCopyRunsOnTheCurrentDeviceOrTheTarget) {
  TryAll(false, [](void* to, void* from) {
    return aclrtMemcpy(to, kSize, from, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE);
  });
}

TEST_F(CrossDevice, AsynchronousCopyRunsOnTheDeviceOfItsStream) {
  for (auto kind : {ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT}) {
    TryAll(true, [kind](void* to, void* from) {
      const aclError code = aclrtMemcpyAsync(to, kSize, from, kSize, kind, nullptr);
      EXPECT_OK(aclrtSynchronizeStream(nullptr));
      return code;
    });
  }
}

TEST_F(CrossDevice, KindSixStaysOnOneDevice) {
  void* from = Allocate(kFrom, 1);
  void* to = Allocate(kTo, 2);
  Open(kTo, kFrom);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsync(to, kSize, from, kSize, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(Read(to), Pattern(kSize, 2));
  EXPECT_OK(aclrtMemcpy(to, kSize, from, kSize, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE))
      << "here the kind is reserved";
}

TEST_F(CrossDevice, OneDeviceInvolvedButNotTheCurrentOne) {
  void* a = Allocate(kFrom, 1);
  void* b = Allocate(kFrom, 2);
  ASSERT_OK(aclrtSetDevice(kTo));
  EXPECT_OK(aclrtMemcpy(b, kSize, a, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE)) << "sync: no peer access needed";
  EXPECT_EQ(Read(b), Pattern(kSize, 1));
  Write(b, 2);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsync(b, kSize, a, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(Read(b), Pattern(kSize, 2));
  Open(kTo, kFrom);
  EXPECT_OK(aclrtMemcpyAsync(b, kSize, a, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(Read(b), Pattern(kSize, 1));
}

TEST_F(CrossDevice, HostCopiesToAnotherDevice) {
  void* block = Allocate(kFrom, 1);
  ASSERT_OK(aclrtSetDevice(kTo));
  PinnedBlock host(Pattern(kSize, 2));
  const auto to_device = [&] {
    return aclrtMemcpyAsync(block, kSize, host.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, nullptr);
  };
  const auto to_host = [&] {
    return aclrtMemcpyAsync(host.get(), kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST, nullptr);
  };
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, to_device());
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, to_host());
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(Read(block), Pattern(kSize, 1)) << "a synchronous read is allowed";
  EXPECT_EQ(host.Read(), Pattern(kSize, 2));
  Open(kTo, kFrom);
  EXPECT_OK(to_device());
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(Read(block), Pattern(kSize, 2));
  Write(block, 3);
  EXPECT_OK(to_host());
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(host.Read(), Pattern(kSize, 3));
}

TEST_F(CrossDevice, StreamOfADeviceThatIsNotCurrent) {
  void* from = Allocate(kFrom, 1);
  void* to = Allocate(kTo, 2);
  Open(kTo, kFrom);
  Open(kFrom, kTo);
  ASSERT_OK(aclrtSetDevice(kFrom));
  Stream stream;
  ASSERT_OK(aclrtSetDevice(kTo));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT,
             aclrtMemcpyAsync(to, kSize, from, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSynchronizeStream(stream.get()));
  ASSERT_OK(aclrtSetDevice(kFrom));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(Read(to), Pattern(kSize, 2));
  EXPECT_OK(aclrtMemcpyAsync(to, kSize, from, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(Read(to), Pattern(kSize, 1));
}

TEST_F(CrossDevice, RefusedForOtherReasonsMovesNothing) {
  void* from = Allocate(kFrom, 1);
  void* to = Allocate(kTo, 2);
  Open(kTo, kFrom);
  const size_t more = kSize + 64;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(to, more, from, more, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(to, 10, from, 11, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsync(to, more, from, more, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(Read(to), Pattern(kSize, 2));
}

TEST_F(CrossDevice, ClosedAgainIsRefusedAgain) {
  void* from = Allocate(kFrom, 1);
  void* to = Allocate(kTo, 2);
  Open(kTo, kFrom);
  EXPECT_OK(aclrtMemcpy(to, 10, from, 10, ACL_MEMCPY_DEVICE_TO_DEVICE));
  Open(kTo, kFrom, false);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(to, kSize, from, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsync(to, kSize, from, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
}

TEST_F(CrossDevice, ResetPeerTakesItsMemoryAlong) {
  void* to = Allocate(kTo, 2);
  ASSERT_OK(aclrtSetDevice(kFrom));
  void* from = nullptr;
  ASSERT_OK(aclrtMalloc(&from, kSize, ACL_MEM_MALLOC_HUGE_FIRST));  // LEAK
  Open(kTo, kFrom);
  ASSERT_OK(aclrtResetDeviceForce(kFrom));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(to, kSize, from, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(Read(to), Pattern(kSize, 2));
}

TEST_F(CrossDevice, HostWaitOrdersTwoDevices) {
  // Device 0 produces, the host waits for its event, device 1 fetches: the documented way without IPC events.
  const size_t size = kMiB;
  void* from = Allocate(kFrom, 1, size);
  void* to = Allocate(kTo, 2, size);
  Open(kTo, kFrom);
  ASSERT_OK(aclrtSetDevice(kFrom));
  Stream producer;
  aclrtEvent event = nullptr;
  ASSERT_OK(aclrtCreateEvent(&event));
  PinnedBlock input(Pattern(size, 0));
  for (uint32_t i = 0; i < 5; ++i) {
    ASSERT_OK(aclrtSetDevice(kFrom));
    std::memcpy(input.get(), Pattern(size, 10 + i).data(), size);
    ASSERT_OK(aclrtMemcpyAsync(from, size, input.get(), size, ACL_MEMCPY_HOST_TO_DEVICE, producer.get()));
    ASSERT_OK(aclrtRecordEvent(event, producer.get()));
    ASSERT_OK(aclrtSetDevice(kTo));
    ASSERT_OK(aclrtSynchronizeEvent(event)) << "an event of another device";
    ASSERT_OK(aclrtMemcpyAsync(to, size, from, size, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
    ASSERT_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_TRUE(Read(to, size) == Pattern(size, 10 + i));
  }
  ASSERT_OK(aclrtSetDevice(kFrom));
  EXPECT_OK(aclrtDestroyEvent(event));
}

}  // namespace
}  // namespace conformance
