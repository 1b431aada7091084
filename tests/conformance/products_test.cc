// The inference family (atlas-300i-duo): SPEC 30 §1, §2.1, §3.3; 32 §2.2, §3. Skipped elsewhere.
#include "support.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

struct Info {
  size_t free = kUntouched, total = kUntouched;
  bool operator==(const Info& other) const { return free == other.free && total == other.total; }
};

Info Query(int attr) {
  Info info;
  EXPECT_OK(aclrtGetMemInfo(static_cast<aclrtMemAttr>(attr), &info.free, &info.total));
  return info;
}

class Inference : public OnTwoDevices {
 protected:
  void SetUp() override {
    if (!OnSoc("Ascend310P")) GTEST_SKIP() << "needs a product of the inference family";
    OnTwoDevices::SetUp();
  }

  // The first pair with device 0 for which the answer is `can`; -1 if none.
  static int PeerOfDevice0(int can) {
    for (int device = 1; device < DeviceCount(); ++device) {
      int32_t answer = -7;
      EXPECT_OK(aclrtDeviceCanAccessPeer(&answer, 0, device));
      if (answer == can) return device;
    }
    return -1;
  }
};

TEST_F(Inference, OnChipQueriesBecomeDdrQueries) {
  DeviceBlock normal(100, ACL_MEM_MALLOC_NORMAL_ONLY), huge(5 * kMiB, ACL_MEM_MALLOC_HUGE_ONLY);
  EXPECT_EQ(Query(ACL_HBM_MEM), Query(ACL_DDR_MEM));
  EXPECT_EQ(Query(ACL_HBM_MEM_HUGE), Query(ACL_DDR_MEM_HUGE));
  EXPECT_EQ(Query(ACL_HBM_MEM_NORMAL), Query(ACL_DDR_MEM_NORMAL));
  EXPECT_EQ(Query(ACL_HBM_MEM_P2P_HUGE), Query(ACL_DDR_MEM_P2P_HUGE));
  EXPECT_EQ(Query(ACL_HBM_MEM_P2P_NORMAL), Query(ACL_DDR_MEM_P2P_NORMAL));
  EXPECT_EQ(Query(ACL_MEM_HUGE), Query(ACL_DDR_MEM_HUGE));
  EXPECT_EQ(Query(ACL_MEM_NORMAL), Query(ACL_DDR_MEM_NORMAL));
  const Info all = Query(ACL_DDR_MEM), pages = Query(ACL_DDR_MEM_HUGE), small = Query(ACL_DDR_MEM_NORMAL);
  EXPECT_EQ(pages.free + small.free, all.free);
  EXPECT_EQ(pages.total + small.total, all.total);
  EXPECT_GT(all.free, 0u);
}

TEST_F(Inference, NoGigabytePages) {
  for (int attr : {ACL_HBM_MEM_HUGE1G, ACL_HBM_MEM_P2P_HUGE1G, ACL_MEM_HUGE1G, ACL_MEM_P2P_HUGE1G}) {
    EXPECT_EQ(Query(attr), (Info{0, 0})) << attr;
  }
  void* ptr = UntouchedPointer();
  for (auto policy : {ACL_MEM_MALLOC_HUGE1G_ONLY, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P}) {
    const aclError none = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    EXPECT_ACL(none, aclrtMalloc(&ptr, kSize, policy));
    EXPECT_ACL(none, aclrtMallocAlign32(&ptr, kSize, policy));
    EXPECT_ACL(none, aclrtMallocCached(&ptr, kSize, policy));
    EXPECT_ACL(none, aclrtMallocWithCfg(&ptr, kSize, policy, nullptr));
    EXPECT_ACL(none, aclrtMallocForTaskScheduler(&ptr, kSize, policy, nullptr));
    OnNewThread([&] { EXPECT_ACL(none, aclrtMalloc(&ptr, kSize, policy)) << "comes before the context"; });
  }
  EXPECT_EQ(ptr, UntouchedPointer());
}

TEST_F(Inference, PeerMemoryComesFromItsWindow) {
  const Info all = Query(ACL_DDR_MEM), window = Query(ACL_DDR_MEM_P2P_HUGE);
  EXPECT_EQ(window.total, all.total / 4);
  EXPECT_EQ(window.free, window.total);
  std::vector<void*> blocks;
  size_t taken = 0;
  void* ptr = UntouchedPointer();
  const size_t chunk = 64 * kMiB;
  while (taken < window.total && aclrtMalloc(&ptr, chunk - 32, ACL_MEM_MALLOC_HUGE_ONLY_P2P) == ACL_SUCCESS) {
    blocks.push_back(ptr);
    taken += chunk;
  }
  EXPECT_EQ(taken, window.total / chunk * chunk);
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&ptr, chunk, ACL_MEM_MALLOC_HUGE_ONLY_P2P));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&ptr, chunk, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&ptr, chunk, ACL_MEM_MALLOC_NORMAL_ONLY_P2P));
  EXPECT_LT(Query(ACL_DDR_MEM_P2P_HUGE).free, chunk);
  { DeviceBlock other(chunk, ACL_MEM_MALLOC_HUGE_ONLY); }  // the rest of the pool is not touched
  for (void* block : blocks) EXPECT_OK(aclrtFree(block));
  EXPECT_EQ(Query(ACL_DDR_MEM_P2P_HUGE), window);
  EXPECT_EQ(Query(ACL_DDR_MEM), all);
}

TEST_F(Inference, HostMemoryCannotBeRegistered) {
  PinnedBlock pinned(kSize);
  void* alias = UntouchedPointer();
  const aclError none = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  EXPECT_ACL(none, aclrtHostRegister(pinned.get(), kSize, ACL_HOST_REGISTER_MAPPED, &alias));
  EXPECT_ACL(none, aclrtHostRegister(pinned.get(), 0, ACL_HOST_REGISTER_MAPPED, &alias)) << "before the size";
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostRegister(nullptr, kSize, ACL_HOST_REGISTER_MAPPED, &alias));
  EXPECT_ACL(none, aclrtHostUnregister(pinned.get()));
  EXPECT_EQ(alias, UntouchedPointer());
  aclrtMallocAttribute attribute;
  std::memset(&attribute, 0, sizeof(attribute));
  attribute.attr = ACL_RT_MEM_ATTR_VA_FLAG;
  attribute.value.vaFlag = 1;
  aclrtMallocConfig config = {&attribute, 1};
  EXPECT_ACL(none, aclrtMallocHostWithCfg(&alias, kSize, &config));
  EXPECT_EQ(alias, UntouchedPointer());
}

TEST_F(Inference, CrossDeviceCopiesNeedPeerPolicyOnBothSides) {
  const int peer = PeerOfDevice0(1);
  ASSERT_GT(peer, 0);
  ASSERT_OK(aclrtSetDevice(0));
  ASSERT_OK(aclrtDeviceEnablePeerAccess(peer, 0));
  ASSERT_OK(aclrtSetDevice(peer));
  ASSERT_OK(aclrtDeviceEnablePeerAccess(0, 0));
  for (bool from_peer : {false, true}) {
    for (bool to_peer : {false, true}) {
      ASSERT_OK(aclrtSetDevice(0));
      DeviceBlock from(Pattern(kSize, 1),
                       from_peer ? ACL_MEM_MALLOC_HUGE_FIRST_P2P : ACL_MEM_MALLOC_HUGE_FIRST);
      ASSERT_OK(aclrtSetDevice(peer));
      DeviceBlock to(Pattern(kSize, 2),
                     to_peer ? ACL_MEM_MALLOC_NORMAL_ONLY_P2P : ACL_MEM_MALLOC_NORMAL_ONLY);
      const bool fine = from_peer && to_peer;
      const aclError code = fine ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID;
      EXPECT_ACL(code, aclrtMemcpy(to.get(), kSize, from.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE));
      EXPECT_EQ(to.Read(), Pattern(kSize, fine ? 1 : 2));
      to.Write(Pattern(kSize, 2));
      EXPECT_ACL(code,
                 aclrtMemcpyAsync(to.get(), kSize, from.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
      EXPECT_OK(aclrtSynchronizeStream(nullptr));
      EXPECT_EQ(to.Read(), Pattern(kSize, fine ? 1 : 2));
    }
  }
  ASSERT_OK(aclrtSetDevice(0));
  DeviceBlock a(Pattern(kSize, 3)), b(kSize);
  EXPECT_OK(aclrtMemcpy(b.get(), kSize, a.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE)) << "inside one device";
}

TEST_F(Inference, UnreachablePairs) {
  const int far = PeerOfDevice0(0);
  ASSERT_GT(far, 0) << "devices behind different switches";
  EXPECT_ACL(ACL_ERROR_RT_DRV_INTERNAL_ERROR, aclrtDeviceEnablePeerAccess(far, 0));
  int32_t status = -7;
  EXPECT_OK(aclrtDevicePeerAccessStatus(0, far, &status));
  EXPECT_EQ(status, 0);
  EXPECT_OK(aclrtDeviceDisablePeerAccess(far)) << "not open, so there is nothing to close";
  DeviceBlock from(Pattern(kSize, 1), ACL_MEM_MALLOC_HUGE_FIRST_P2P);
  ASSERT_OK(aclrtSetDevice(far));
  DeviceBlock to(Pattern(kSize, 2), ACL_MEM_MALLOC_HUGE_FIRST_P2P);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(to.get(), kSize, from.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(to.Read(), Pattern(kSize, 2));
}

TEST_F(Inference, StreamsAndEvents) {
  uint32_t left = 0;
  ASSERT_OK(aclrtGetStreamAvailableNum(&left));
  EXPECT_EQ(left, 1024u - 1);
  for (const auto& [asked, stored] :
       {std::pair<uint32_t, uint32_t>{0, 0}, {5, 5}, {7, 7}, {8, 7}, {1000, 7}}) {
    aclrtStream stream = nullptr;
    uint32_t priority = 77;
    ASSERT_OK(aclrtCreateStreamWithConfig(&stream, asked, 0));
    EXPECT_OK(aclrtStreamGetPriority(stream, &priority));
    EXPECT_EQ(priority, stored) << asked;
    EXPECT_OK(aclrtDestroyStream(stream));
  }
  void* handle = UntouchedPointer();
  const aclError none = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  EXPECT_ACL(none, aclrtCreateStreamWithConfig(&handle, 0, ACL_STREAM_DEVICE_USE_ONLY));
  EXPECT_ACL(none, aclrtCreateEventExWithFlag(&handle, ACL_EVENT_IPC));
  EXPECT_EQ(handle, UntouchedPointer());
}

TEST_F(Inference, TwoDimensionalCopiesWork) {
  DeviceBlock block(Pattern(kSize, 1));
  Bytes host = Pattern(kSize, 2), expected = Pattern(kSize, 1);
  EXPECT_OK(aclrtMemcpy2d(block.get(), 64, host.data(), 32, 20, 50, ACL_MEMCPY_HOST_TO_DEVICE));
  for (int r = 0; r < 50; ++r) std::copy_n(&host[r * 32], 20, &expected[r * 64]);
  EXPECT_EQ(block.Read(), expected);
}

}  // namespace
}  // namespace conformance
