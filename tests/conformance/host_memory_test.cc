// SPEC 30 §3.1, §3.2, §4: pinned host memory.
#include "support.h"

namespace conformance {
namespace {

aclError WithNoConfig(void** ptr, size_t size) {
  return aclrtMallocHostWithCfg(ptr, size, nullptr);
}

using Allocate = aclError (*)(void**, size_t);

class HostMalloc : public OnTwoDevices, public testing::WithParamInterface<Allocate> {};

INSTANTIATE_TEST_SUITE_P(Both, HostMalloc, testing::Values(&aclrtMallocHost, &WithNoConfig));

TEST_P(HostMalloc, GivesPagesTheHostMayUse) {
  for (size_t size : {size_t{1}, size_t{4096}, 5 * kMiB}) {
    void* ptr = nullptr;
    ASSERT_OK(GetParam()(&ptr, size));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(ptr) % 4096, 0u) << "registration wants whole pages";
    std::memset(ptr, 0x3c, size);
    EXPECT_OK(aclrtFreeHost(ptr));
  }
}

TEST_P(HostMalloc, RefusesWhatItCannotGive) {
  void* ptr = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, GetParam()(&ptr, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, GetParam()(nullptr, 64));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, GetParam()(&ptr, size_t{1} << 60));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, GetParam()(&ptr, SIZE_MAX));
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, GetParam()(&ptr, 64)); });
  EXPECT_EQ(ptr, UntouchedPointer());
}

TEST_P(HostMalloc, ServesEveryDevice) {
  void* ptr = nullptr;
  ASSERT_OK(GetParam()(&ptr, 4096));
  std::memcpy(ptr, Pattern(4096, 1).data(), 4096);
  for (int device : {1, 0}) {
    ASSERT_OK(aclrtSetDevice(device));
    DeviceBlock block(4096);
    ASSERT_OK(aclrtMemcpyAsync(block.get(), 4096, ptr, 4096, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
    ASSERT_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_EQ(block.Read(), Pattern(4096, 1));
  }
  EXPECT_OK(aclrtFreeHost(ptr));
}

class HostMallocConfig : public OnDevice0 {
 protected:
  void Expect(aclError code, int kind, uint32_t value) {
    aclrtMallocAttribute attribute;
    std::memset(&attribute, 0, sizeof(attribute));
    attribute.attr = static_cast<aclrtMallocAttrType>(kind);
    attribute.value.deviceId = value;
    aclrtMallocConfig config = {&attribute, 1};
    void* ptr = UntouchedPointer();
    EXPECT_ACL(code, aclrtMallocHostWithCfg(&ptr, 4096, &config)) << kind << "=" << value;
    if (code == ACL_SUCCESS) {
      EXPECT_OK(aclrtFreeHost(ptr));
    } else {
      EXPECT_EQ(ptr, UntouchedPointer());
    }
  }
};

TEST_F(HostMallocConfig, Attributes) {
  Expect(ACL_SUCCESS, ACL_RT_MEM_ATTR_RSV, 5);
  Expect(ACL_SUCCESS, ACL_RT_MEM_ATTR_MODULE_ID, 33);
  Expect(ACL_SUCCESS, ACL_RT_MEM_ATTR_DEVICE_ID, 0);
  Expect(ACL_ERROR_RT_PARAM_INVALID, ACL_RT_MEM_ATTR_DEVICE_ID, 1);
  Expect(ACL_SUCCESS, ACL_RT_MEM_ATTR_VA_FLAG, 0);
  Expect(ACL_SUCCESS, ACL_RT_MEM_ATTR_VA_FLAG, 1);
  Expect(ACL_ERROR_INVALID_PARAM, 99, 0);
}

TEST_F(HostMallocConfig, CountWithoutAttributesIsRefused) {
  aclrtMallocConfig config = {nullptr, 2};
  void* ptr = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocHostWithCfg(&ptr, 4096, &config));
  EXPECT_EQ(ptr, UntouchedPointer());
  config.numAttrs = 0;
  ASSERT_OK(aclrtMallocHostWithCfg(&ptr, 4096, &config));
  EXPECT_OK(aclrtFreeHost(ptr));
}

using Release = aclError (*)(void*);

class HostFree : public OnDevice0, public testing::WithParamInterface<Release> {};

INSTANTIATE_TEST_SUITE_P(Both, HostFree, testing::Values(&aclrtFreeHost, &aclrtFreeHostWithDevSync));

TEST_P(HostFree, TakesOnlyTheStartOfALiveBlock) {
  PinnedBlock pinned(Pattern(4096, 2));
  DeviceBlock device(4096);
  Bytes pageable(64);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, GetParam()(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(pinned.at(64)));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(device.get()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(pageable.data()));
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, GetParam()(pinned.get())); });
  EXPECT_EQ(pinned.Read(), Pattern(4096, 2));
  void* ptr = pinned.release();
  EXPECT_OK(GetParam()(ptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(ptr));
}

TEST_P(HostFree, UnregistersWhatIsStillRegistered) {
  PinnedBlock pinned(4096);
  void* alias = nullptr;
  ASSERT_OK(aclrtHostRegister(pinned.get(), 4096, ACL_HOST_REGISTER_MAPPED, &alias));
  void* ptr = pinned.release();
  EXPECT_OK(GetParam()(ptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(ptr));
}

TEST_P(HostFree, WorksOnceAnEventSaysDone) {
  Stream stream;
  DeviceBlock target(64 * kKiB);
  aclrtEvent event = nullptr;
  ASSERT_OK(aclrtCreateEvent(&event));
  for (int i = 0; i < 50; ++i) {
    PinnedBlock source(Pattern(64 * kKiB, i));
    ASSERT_OK(aclrtMemcpyAsync(target.get(), target.size(), source.get(), source.size(),
                               ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
    ASSERT_OK(aclrtRecordEvent(event, stream.get()));
    ASSERT_OK(aclrtSynchronizeEvent(event));
    EXPECT_OK(GetParam()(source.release()));
  }
  EXPECT_EQ(target.Read(), Pattern(64 * kKiB, 49));
  EXPECT_OK(aclrtDestroyEvent(event));
}

class HostLifetime : public OnDevice0 {};

TEST_F(HostLifetime, FreeWithDevSyncWaitsForTheCurrentDevice) {
  Stream stream;
  PinnedBlock source(Pattern(2 * kMiB, 3));
  DeviceBlock target(2 * kMiB);
  ASSERT_OK(aclrtMemcpyAsync(target.get(), target.size(), source.get(), source.size(),
                             ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
  EXPECT_OK(aclrtFreeHostWithDevSync(source.release()));
  EXPECT_EQ(target.Read(), Pattern(2 * kMiB, 3)) << "a synchronous read waits for no stream, so the free did";
}

TEST_F(HostLifetime, OutlivesTheDevice) {
  PinnedBlock pinned(Pattern(4096, 4));
  ASSERT_OK(aclrtResetDeviceForce(0));
  EXPECT_EQ(pinned.Read(), Pattern(4096, 4));
  ASSERT_OK(aclrtSetDevice(0));
  DeviceBlock block(4096);
  EXPECT_OK(aclrtMemcpy(block.get(), 4096, pinned.get(), 4096, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_EQ(block.Read(), Pattern(4096, 4));
}

}  // namespace
}  // namespace conformance
