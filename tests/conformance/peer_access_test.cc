// SPEC 32 §1, §2, §5, §6: peer access between the devices of one process.
#include "support.h"

namespace conformance {
namespace {

int Status(int from, int to) {
  int32_t status = -7;
  EXPECT_OK(aclrtDevicePeerAccessStatus(from, to, &status));
  return status;
}

class PeerAccess : public OnTwoDevices {};

TEST_F(PeerAccess, CanAccessNeedsNoDevice) {
  OnNewThread([] {
    const int count = DeviceCount();
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) {
        if (a == b) continue;
        int32_t can = -7;
        EXPECT_OK(aclrtDeviceCanAccessPeer(&can, a, b));
        EXPECT_EQ(can, 1) << a << "->" << b << ": one server reaches all its devices";
      }
    }
  });
}

TEST_F(PeerAccess, CanAccessBadArguments) {
  const int count = DeviceCount();
  int32_t can = -7;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceCanAccessPeer(nullptr, 0, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceCanAccessPeer(nullptr, 0, 99)) << "null first";
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceCanAccessPeer(&can, count, count))
      << "equal ids before bad ids";
  for (int bad : {99, count, -1}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceCanAccessPeer(&can, 0, bad)) << bad;
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceCanAccessPeer(&can, bad, 0)) << bad;
  }
  EXPECT_EQ(can, -7);
}

TEST_F(PeerAccess, CanAccessDoesNotDependOnState) {
  int32_t can = -7;
  ASSERT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  EXPECT_OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  ASSERT_OK(aclrtDeviceDisablePeerAccess(1));
  can = -7;
  EXPECT_OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
}

TEST_F(PeerAccess, OneCallOpensOneDirection) {
  EXPECT_EQ(Status(0, 1), 0);
  ASSERT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(Status(0, 1), 1);
  EXPECT_EQ(Status(1, 0), 0);
  ASSERT_OK(aclrtSetDevice(1));
  ASSERT_OK(aclrtDeviceEnablePeerAccess(0, 0));
  EXPECT_EQ(Status(1, 0), 1);
  ASSERT_OK(aclrtDeviceDisablePeerAccess(0));
  EXPECT_EQ(Status(1, 0), 0);
  EXPECT_EQ(Status(0, 1), 1) << "the reverse stays";
}

TEST_F(PeerAccess, OpeningIsNotCounted) {
  for (int i = 0; i < 3; ++i) EXPECT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  EXPECT_OK(aclrtDeviceDisablePeerAccess(1));
  EXPECT_EQ(Status(0, 1), 0);
  EXPECT_OK(aclrtDeviceDisablePeerAccess(1)) << "closing what is closed";
}

TEST_F(PeerAccess, BelongsToTheDeviceNotTheThread) {
  OnNewThread([] {
    ASSERT_OK(aclrtSetDevice(0));
    ASSERT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  });
  EXPECT_EQ(Status(0, 1), 1);
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  EXPECT_OK(aclrtDeviceDisablePeerAccess(1)) << "through another context of the same device";
  EXPECT_EQ(Status(0, 1), 0);
  EXPECT_OK(aclrtDestroyContext(context));
}

TEST_F(PeerAccess, PeerNeedNotBeSelected) {
  ASSERT_OK(aclrtResetDeviceForce(1));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(Status(0, 1), 1);
}

TEST_F(PeerAccess, EnableChecksInOrder) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceEnablePeerAccess(1, 7));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceEnablePeerAccess(0, 7)) << "flags before the id";
  OnNewThread([] {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceEnablePeerAccess(99, 7)) << "flags before the context";
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtDeviceEnablePeerAccess(99, 0)) << "context before the id";
  });
  for (int bad : {DeviceCount(), 99, -1}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceEnablePeerAccess(bad, 0)) << bad;
  }
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceEnablePeerAccess(0, 0)) << "itself";
  EXPECT_EQ(Status(0, 1), 0);
}

TEST_F(PeerAccess, DisableChecksInOrder) {
  ASSERT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  OnNewThread([] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtDeviceDisablePeerAccess(99)); });
  for (int bad : {DeviceCount(), 99, -1}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceDisablePeerAccess(bad)) << bad;
  }
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceDisablePeerAccess(0)) << "itself";
  EXPECT_EQ(Status(0, 1), 1);
}

TEST_F(PeerAccess, StatusOfBadIds) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDevicePeerAccessStatus(0, 1, nullptr));
  for (int bad : {DeviceCount(), 99, -1}) {
    int32_t status = -7;
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtDevicePeerAccessStatus(bad, 0, &status));
    EXPECT_EQ(status, 0) << "written although the call fails";
    status = -7;
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtDevicePeerAccessStatus(0, bad, &status));
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Status(1, 1), 0) << "equal ids";
  OnNewThread([] { EXPECT_EQ(Status(0, 1), 0) << "needs no device"; });
}

TEST_F(PeerAccess, ResetClosesTheOutgoingDirectionOnly) {
  ASSERT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  ASSERT_OK(aclrtSetDevice(1));
  ASSERT_OK(aclrtDeviceEnablePeerAccess(0, 0));
  ASSERT_OK(aclrtSetDevice(1));  // counts twice more: this reset does not reach zero
  ASSERT_OK(aclrtResetDevice(1));
  EXPECT_EQ(Status(1, 0), 1);
  ASSERT_OK(aclrtResetDeviceForce(1));
  EXPECT_EQ(Status(1, 0), 0);
  EXPECT_EQ(Status(0, 1), 1);
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_EQ(Status(1, 0), 0) << "must be opened again";
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtDeviceDisablePeerAccess(1));
}

TEST_F(PeerAccess, AtomicCapabilitiesCameLater) {
  if (Cann() == "9.1") GTEST_SKIP() << "profile 9.1 has them";
  uint32_t mask = 77;
  const aclrtAtomicOperation operation = ACL_RT_ATOMIC_OPERATION_INTEGER_ADD;
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtDeviceGetP2PAtomicCapabilities(&mask, &operation, 1, 0, 1));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDeviceGetHostAtomicCapabilities(&mask, &operation, 1, 0));
  EXPECT_EQ(mask, 77u);
}

class PeerMap : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    ASSERT_OK(aclrtSetDevice(1));
    ASSERT_OK(aclrtDeviceEnablePeerAccess(0, 0));  // consumer 1 may use memory of 0
    ASSERT_OK(aclrtSetDevice(0));
  }
};

TEST_F(PeerMap, NeedsTheConsumersAccess) {
  DeviceBlock block(4096);
  EXPECT_OK(aclrtMemP2PMap(block.get(), 4096, 1, 0));
  EXPECT_OK(aclrtMemP2PMap(block.get(), 4096, 1, 0)) << "again";
  EXPECT_OK(aclrtMemP2PMap(block.at(100), 200, 1, 0)) << "a part";
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_OK(aclrtMemP2PMap(block.get(), 4096, 1, 0)) << "the owner need not be current";
  ASSERT_OK(aclrtDeviceDisablePeerAccess(0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemP2PMap(block.get(), 4096, 1, 0));
  ASSERT_OK(aclrtSetDevice(0));
  ASSERT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemP2PMap(block.get(), 4096, 1, 0))
      << "the other direction is no help";
}

TEST_F(PeerMap, BadArguments) {
  DeviceBlock block(4096);
  Bytes host(64);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemP2PMap(nullptr, 4096, 1, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemP2PMap(block.get(), 0, 1, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemP2PMap(block.get(), 4096, 1, 1));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemP2PMap(block.get(), 4096, 99, 0));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemP2PMap(block.get(), 4096, -1, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemP2PMap(block.get(), 4096, 0, 0)) << "the owner itself";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemP2PMap(block.get(), 8192, 1, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemP2PMap(block.at(64), SIZE_MAX, 1, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemP2PMap(host.data(), 64, 1, 0));
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemP2PMap(block.get(), 4096, 1, 0)); });
}

// SPEC 32 §6, the steps between aclInit and aclFinalize. The order of the clean-up is the guide's.
class PeerScenario : public Clean {
 protected:
  void TearDown() override {
    for (void* block : {m0_, m1_}) EXPECT_TRUE(block == nullptr || aclrtFree(block) == ACL_SUCCESS);
    Clean::TearDown();
  }
  void Reach(int step) {
    int32_t can = -7;
    ASSERT_OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
    ASSERT_EQ(can, 1);
    ASSERT_OK(aclrtSetDevice(0));
    ASSERT_OK(aclrtDeviceEnablePeerAccess(1, 0));
    ASSERT_OK(aclrtMalloc(&m0_, 10, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
    ASSERT_OK(aclrtMemcpy(m0_, 10, "0123456789", 10, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_OK(aclrtSetDevice(1));
    if (step >= 4) {
      ASSERT_OK(aclrtDeviceEnablePeerAccess(0, 0));
    }
    ASSERT_OK(aclrtMalloc(&m1_, 10, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
    ASSERT_OK(aclrtMemcpy(m1_, 10, "..........", 10, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  std::string Read(void* device) {
    char text[11] = {};
    EXPECT_OK(aclrtMemcpy(text, 10, device, 10, ACL_MEMCPY_DEVICE_TO_HOST));
    return text;
  }

  void* m0_ = nullptr;
  void* m1_ = nullptr;
};

TEST_F(PeerScenario, AsInTheGuide) {
  Reach(4);
  size_t normal = 0, total = 0;
  ASSERT_OK(aclrtGetMemInfo(ACL_HBM_MEM_NORMAL, &normal, &total));
  EXPECT_EQ(total, 2 * kMiB) << "ten bytes come from normal pages";
  EXPECT_OK(aclrtMemcpy(m1_, 10, m0_, 10, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(Read(m1_), "0123456789");
  EXPECT_OK(aclrtDeviceDisablePeerAccess(0));
  EXPECT_EQ(Status(1, 0), 0);
  EXPECT_EQ(Status(0, 1), 1);
  EXPECT_OK(aclrtFree(std::exchange(m1_, nullptr)));
  EXPECT_OK(aclrtResetDevice(1));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtDeviceDisablePeerAccess(1));
  EXPECT_OK(aclrtFree(std::exchange(m0_, nullptr)));
  EXPECT_OK(aclrtResetDeviceForce(0));
}

TEST_F(PeerScenario, WithoutTheSecondEnable) {
  Reach(3);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(m1_, 10, m0_, 10, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(Read(m1_), "..........");
}

TEST_F(PeerScenario, RolesExchanged) {
  Reach(4);
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtMemcpy(m0_, 10, m1_, 10, ACL_MEMCPY_DEVICE_TO_DEVICE)) << "0->1 is open";
  EXPECT_EQ(Read(m0_), "..........");
  ASSERT_OK(aclrtDeviceDisablePeerAccess(1));
  ASSERT_OK(aclrtMemcpy(m0_, 10, "0123456789", 10, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(m0_, 10, m1_, 10, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(Read(m0_), "0123456789");
}

}  // namespace
}  // namespace conformance
