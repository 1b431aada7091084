// SPEC 32 §2.2, §3: the switches of peer access. Each suite needs the environment that its name says.
#include "support.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

class WithVariant : public Clean {
 protected:
  void TearDown() override {
    for (void* block : {from_, to_}) EXPECT_TRUE(block == nullptr || aclrtFree(block) == ACL_SUCCESS);
    Clean::TearDown();
  }
  void Need(const char* variant) {
    if (Variant() != variant) GTEST_SKIP() << "needs " << variant;
  }
  void TwoBlocks() {
    ASSERT_OK(aclrtSetDevice(0));
    ASSERT_OK(aclrtMalloc(&from_, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_OK(aclrtMemcpy(from_, kSize, Pattern(kSize, 1).data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_OK(aclrtSetDevice(1));
    ASSERT_OK(aclrtMalloc(&to_, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_OK(aclrtMemcpy(to_, kSize, Pattern(kSize, 2).data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  Bytes Target() {
    Bytes bytes(kSize);
    EXPECT_OK(aclrtMemcpy(bytes.data(), kSize, to_, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
    return bytes;
  }
  aclError Copy() { return aclrtMemcpy(to_, kSize, from_, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE); }
  aclError CopyAsync() {
    const aclError code = aclrtMemcpyAsync(to_, kSize, from_, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr);
    EXPECT_OK(aclrtSynchronizeStream(nullptr));
    return code;
  }

  void* from_ = nullptr;
  void* to_ = nullptr;
};

class PeerLenient : public WithVariant {
  void SetUp() override {
    Need("lenient");
    WithVariant::SetUp();
  }
};

TEST_F(PeerLenient, CopiesWithoutAccess) {
  TwoBlocks();
  EXPECT_OK(Copy());
  EXPECT_EQ(Target(), Pattern(kSize, 1));
  ASSERT_OK(aclrtMemset(to_, kSize, 0, kSize));
  EXPECT_OK(CopyAsync());
  EXPECT_EQ(Target(), Pattern(kSize, 1));
}

class PeerBoth : public WithVariant {
  void SetUp() override {
    Need("both");
    WithVariant::SetUp();
  }
};

TEST_F(PeerBoth, OneDirectionIsNotEnough) {
  TwoBlocks();
  ASSERT_OK(aclrtDeviceEnablePeerAccess(0, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Copy());
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, CopyAsync());
  EXPECT_EQ(Target(), Pattern(kSize, 2));
  ASSERT_OK(aclrtSetDevice(0));
  ASSERT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_OK(Copy());
  EXPECT_EQ(Target(), Pattern(kSize, 1));
  EXPECT_OK(CopyAsync());
}

class PeerLimit : public WithVariant {
  void SetUp() override {
    Need("max_peers=2");
    WithVariant::SetUp();
  }
};

TEST_F(PeerLimit, OnlyNewPeersCount) {
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  EXPECT_OK(aclrtDeviceEnablePeerAccess(2, 0));
  EXPECT_ACL(ACL_ERROR_RT_OVER_LIMIT, aclrtDeviceEnablePeerAccess(3, 0));
  EXPECT_OK(aclrtDeviceEnablePeerAccess(1, 0)) << "already open";
  EXPECT_OK(aclrtDeviceDisablePeerAccess(1));
  EXPECT_OK(aclrtDeviceEnablePeerAccess(3, 0));
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_OK(aclrtDeviceEnablePeerAccess(0, 0)) << "each device has its own limit";
}

// Twice the devices of the product: the second half is another copy of the node.
class PeerUnreachable : public WithVariant {
  void SetUp() override {
    Need("two nodes");
    WithVariant::SetUp();
  }
};

TEST_F(PeerUnreachable, NoPathNoAccess) {
  const int count = DeviceCount(), other = count / 2;
  int32_t can = -7;
  EXPECT_OK(aclrtDeviceCanAccessPeer(&can, 0, other));
  EXPECT_EQ(can, 0);
  EXPECT_OK(aclrtDeviceCanAccessPeer(&can, other, other + 1));
  EXPECT_EQ(can, 1);
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_DRV_INTERNAL_ERROR, aclrtDeviceEnablePeerAccess(other, 0));
  const char* text = aclGetRecentErrMsg();
  ASSERT_NE(text, nullptr);
  EXPECT_NE(std::string(text).find("EL9999"), std::string::npos) << text;
  int32_t status = -7;
  EXPECT_OK(aclrtDevicePeerAccessStatus(0, other, &status));
  EXPECT_EQ(status, 0);
  EXPECT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  ASSERT_OK(aclrtSetDevice(other));
  EXPECT_ACL(ACL_ERROR_RT_DRV_INTERNAL_ERROR, aclrtDeviceEnablePeerAccess(0, 0));
  EXPECT_OK(aclrtDeviceEnablePeerAccess(other + 1, 0));
}

TEST_F(PeerUnreachable, NoPathNoCopy) {
  const int other = DeviceCount() / 2;
  ASSERT_OK(aclrtSetDevice(0));
  DeviceBlock from(Pattern(kSize, 1));
  ASSERT_OK(aclrtSetDevice(other));
  DeviceBlock to(Pattern(kSize, 2));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(to.get(), kSize, from.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(to.Read(), Pattern(kSize, 2));
}

}  // namespace
}  // namespace conformance
