// SPEC 30 §3.4, §3.6, §3.7: registering host memory by flags, its device address, and who may use it.
#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kPage = 4096;
constexpr uint32_t kMapped = ACL_HOST_REG_MAPPED, kPinned = ACL_HOST_REG_PINNED;

// Ordinary page-aligned memory, as a C program would get it.
class Pages {
 public:
  explicit Pages(size_t count) : ptr_(static_cast<uint8_t*>(std::aligned_alloc(kPage, count * kPage))) {
    std::memset(ptr_, 0, count * kPage);
  }
  ~Pages() { std::free(ptr_); }
  uint8_t* get() const { return ptr_; }
  Bytes Read(size_t size) const { return Bytes(ptr_, ptr_ + size); }

 private:
  uint8_t* ptr_;
};

void* DeviceAddress(void* host) {
  void* device = nullptr;
  EXPECT_OK(aclrtHostGetDevicePointer(host, &device, 0));
  return device;
}

void ExpectNoAddress(aclError code, void* host, uint32_t flag = 0) {
  void* device = UntouchedPointer();
  EXPECT_ACL(code, aclrtHostGetDevicePointer(host, &device, flag));
  EXPECT_EQ(device, UntouchedPointer());
}

class HostRegisterV2 : public OnTwoDevices {};

TEST_F(HostRegisterV2, TakesPinnedAndOrdinaryMemory) {
  PinnedBlock pinned(3 * kPage);
  Pages pages(3);
  for (uint8_t* ptr : {pinned.get(), pages.get()}) {
    for (uint32_t flag : {kMapped, kPinned, kMapped | kPinned}) {
      ASSERT_OK(aclrtHostRegisterV2(ptr, 3 * kPage - 5, flag)) << flag;
      ptr[0] = 1;
      EXPECT_OK(aclrtHostUnregister(ptr));
      EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(ptr)) << "once";
    }
  }
}

TEST_F(HostRegisterV2, BadArguments) {
  Pages pages(2);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostRegisterV2(nullptr, kPage, kMapped));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostRegisterV2(pages.get(), 0, kMapped));
  for (uint32_t flag : {0u, 1u, 0x10u, kMapped | 1u, kPinned << 1, ~(kMapped | kPinned | 0xcu)}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostRegisterV2(pages.get(), kPage, flag)) << flag;
  }
  for (uint32_t flag : {4u, 8u, 12u, 4u | kMapped, 8u | kPinned, 4u | 1u}) {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtHostRegisterV2(pages.get(), kPage, flag)) << flag;
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtHostRegisterV2(pages.get(), 0, flag))
        << "before the size";
  }
  OnNewThread(
      [&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtHostRegisterV2(pages.get(), kPage, kMapped)); });
  for (size_t offset : {1, 16, 2048}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(pages.get() + offset, 64, kMapped)) << offset;
  }
  DeviceBlock block(kPage);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(block.get(), kPage, kMapped)) << "device memory";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(pages.get() + kPage, SIZE_MAX - kPage, kMapped));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(pages.get())) << "nothing was registered";
}

TEST_F(HostRegisterV2, LiveRangesMayNotOverlap) {
  Pages pages(3);
  void* alias = UntouchedPointer();
  for (uint32_t flag : {kMapped, kPinned}) {
    ASSERT_OK(aclrtHostRegisterV2(pages.get() + kPage, kPage, flag));
    for (uint32_t other : {kMapped, kPinned, kMapped | kPinned}) {
      EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(pages.get(), 3 * kPage, other));
      EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(pages.get() + kPage, 1, other));
    }
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtHostRegister(pages.get(), 2 * kPage, ACL_HOST_REGISTER_MAPPED, &alias));
    EXPECT_EQ(alias, UntouchedPointer());
    EXPECT_OK(aclrtHostRegisterV2(pages.get(), kPage, flag)) << "neighbours do not overlap";
    EXPECT_OK(aclrtHostUnregister(pages.get()));
    ASSERT_OK(aclrtSetDevice(1));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(pages.get() + kPage, kPage, flag));
    ASSERT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtHostUnregister(pages.get() + kPage));
  }
}

TEST_F(HostRegisterV2, PinnedRangesAreCopiedAsynchronously) {
  Pages pages(2);
  for (uint32_t flag : {kPinned, kMapped | kPinned}) {
    DeviceBlock block(Pattern(kPage, flag));
    Stream stream;
    std::memset(pages.get(), 0, kPage);
    ASSERT_OK(aclrtHostRegisterV2(pages.get(), 2 * kPage, flag));
    {
      Hold held(stream.get());
      ASSERT_OK(
          aclrtMemcpyAsync(pages.get(), kPage, block.get(), kPage, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
      EXPECT_EQ(held.Pending(), 1u) << "the call did not wait";
      EXPECT_TRUE(held.Land());
    }
    EXPECT_OK(aclrtSynchronizeStream(stream.get()));
    EXPECT_EQ(pages.Read(kPage), Pattern(kPage, flag));
    EXPECT_OK(aclrtHostUnregister(pages.get()));
  }
}

TEST_F(HostRegisterV2, MappedAloneStaysPageable) {
  Pages pages(1);
  DeviceBlock block(Pattern(kPage, 3));
  Stream stream;
  ASSERT_OK(aclrtHostRegisterV2(pages.get(), kPage, kMapped));
  {
    Hold held(stream.get());
    BlockedCall call(CurrentContext(), [&] {
      return aclrtMemcpyAsync(pages.get(), kPage, block.get(), kPage, ACL_MEMCPY_DEVICE_TO_HOST,
                              stream.get());
    });
    EXPECT_FALSE(call.returned()) << "it waits for its copy";
    EXPECT_TRUE(held.Land());
    held.Release();
    EXPECT_OK(call.Join());
  }
  EXPECT_EQ(pages.Read(kPage), Pattern(kPage, 3));
  EXPECT_OK(aclrtHostUnregister(pages.get()));
}

TEST_F(HostRegisterV2, ResetDropsTheRegistration) {
  Pages pages(2);
  ASSERT_OK(aclrtHostRegisterV2(pages.get(), kPage, kPinned));          // LEAK
  ASSERT_OK(aclrtHostRegisterV2(pages.get() + kPage, kPage, kMapped));  // LEAK
  ASSERT_OK(aclrtResetDeviceForce(0));
  ASSERT_OK(aclrtSetDevice(0));
  ExpectNoAddress(ACL_ERROR_RT_PARAM_INVALID, pages.get() + kPage);
  for (uint8_t* ptr : {pages.get(), pages.get() + kPage}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(ptr));
    EXPECT_OK(aclrtHostRegisterV2(ptr, kPage, kMapped));
    EXPECT_OK(aclrtHostUnregister(ptr));
  }
}

TEST_F(HostRegisterV2, FreeingPinnedMemoryUnregisters) {
  PinnedBlock block(kPage);
  ASSERT_OK(aclrtHostRegisterV2(block.get(), kPage, kMapped));
  uint8_t* address = block.get();
  ASSERT_OK(aclrtFreeHost(block.release()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(address));
  ExpectNoAddress(ACL_ERROR_RT_PARAM_INVALID, address);
}

class HostPointer : public OnTwoDevices {};

TEST_F(HostPointer, OfMappedRanges) {
  Pages pages(4);
  for (uint32_t flag : {kMapped, kMapped | kPinned}) {
    ASSERT_OK(aclrtHostRegisterV2(pages.get(), 2 * kPage, flag));
    ASSERT_OK(aclrtHostRegisterV2(pages.get() + 2 * kPage, kPage + 100, flag));
    auto* first = static_cast<uint8_t*>(DeviceAddress(pages.get()));
    auto* second = static_cast<uint8_t*>(DeviceAddress(pages.get() + 2 * kPage));
    EXPECT_NE(first, pages.get());
    EXPECT_EQ(DeviceAddress(pages.get() + 1), first + 1) << "interior addresses have one too";
    EXPECT_EQ(DeviceAddress(pages.get() + 2 * kPage - 1), first + 2 * kPage - 1);
    EXPECT_EQ(DeviceAddress(pages.get() + 3 * kPage + 99), second + kPage + 99);
    EXPECT_TRUE(second >= first + 2 * kPage || second + 2 * kPage <= first) << "they do not overlap";
    ExpectNoAddress(ACL_ERROR_RT_PARAM_INVALID, pages.get() + 3 * kPage + 100);
    EXPECT_OK(aclrtHostUnregister(pages.get()));
    EXPECT_OK(aclrtHostUnregister(pages.get() + 2 * kPage));
    ExpectNoAddress(ACL_ERROR_RT_PARAM_INVALID, pages.get());
  }
}

TEST_F(HostPointer, OfTheOlderRegistration) {
  Pages pages(1);
  void* alias = nullptr;
  ASSERT_OK(aclrtHostRegister(pages.get(), kPage, ACL_HOST_REGISTER_MAPPED, &alias));
  EXPECT_EQ(DeviceAddress(pages.get()), alias);
  EXPECT_EQ(DeviceAddress(pages.get() + 8), static_cast<uint8_t*>(alias) + 8);
  EXPECT_OK(aclrtHostUnregister(pages.get()));
}

TEST_F(HostPointer, BadArguments) {
  Pages pages(2);
  ASSERT_OK(aclrtHostRegisterV2(pages.get(), kPage, kMapped));
  ASSERT_OK(aclrtHostRegisterV2(pages.get() + kPage, kPage, kPinned));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostGetDevicePointer(pages.get(), nullptr, 0));
  ExpectNoAddress(ACL_ERROR_INVALID_PARAM, nullptr);
  ExpectNoAddress(ACL_ERROR_INVALID_PARAM, pages.get(), 1);
  ExpectNoAddress(ACL_ERROR_INVALID_PARAM, pages.get(), kMapped);
  ExpectNoAddress(ACL_ERROR_RT_PARAM_INVALID, pages.get() + kPage);  // pinned only
  PinnedBlock pinned(kPage);
  DeviceBlock block(kPage);
  ExpectNoAddress(ACL_ERROR_RT_PARAM_INVALID, pinned.get());
  ExpectNoAddress(ACL_ERROR_RT_PARAM_INVALID, block.get());
  ExpectNoAddress(ACL_ERROR_RT_PARAM_INVALID, DeviceAddress(pages.get()));
  OnNewThread([&] { ExpectNoAddress(ACL_ERROR_RT_CONTEXT_NULL, pages.get()); });
  EXPECT_OK(aclrtHostUnregister(pages.get()));
  EXPECT_OK(aclrtHostUnregister(pages.get() + kPage));
}

TEST_F(HostPointer, IsOnlyForTheDevice) {
  Pages pages(1);
  DeviceBlock block(Pattern(64, 2));
  ASSERT_OK(aclrtHostRegisterV2(pages.get(), kPage, kMapped | kPinned));
  void* alias = DeviceAddress(pages.get());
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(alias, 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(alias, 64, 1, 64));
  EXPECT_EQ(pages.Read(64), Bytes(64, 0));
  EXPECT_OK(aclrtHostUnregister(pages.get()));
}

TEST_F(HostPointer, NamesTheSameBytes) {
  Pages pages(1);
  Stream stream;
  ASSERT_OK(aclrtHostRegisterV2(pages.get(), kPage, kMapped));
  ASSERT_OK(aclrtValueWrite(DeviceAddress(pages.get() + 64), 77, 0, stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(__atomic_load_n(reinterpret_cast<uint64_t*>(pages.get() + 64), __ATOMIC_ACQUIRE), 77u);
  EXPECT_OK(aclrtHostUnregister(pages.get()));
}

TEST_F(HostPointer, EqualsTheHostAddressWithTheFlag) {
  aclrtMallocAttribute attribute;
  std::memset(&attribute, 0, sizeof(attribute));
  attribute.attr = ACL_RT_MEM_ATTR_VA_FLAG;
  attribute.value.vaFlag = 1;
  aclrtMallocConfig config = {&attribute, 1};
  void* ptr = nullptr;
  ASSERT_OK(aclrtMallocHostWithCfg(&ptr, kPage, &config));
  ASSERT_OK(aclrtHostRegisterV2(ptr, kPage, kMapped));
  EXPECT_EQ(DeviceAddress(ptr), ptr);
  EXPECT_OK(aclrtHostUnregister(ptr));
  EXPECT_OK(aclrtFreeHost(ptr));
}

class HostMapCapabilities : public Clean {};

TEST_F(HostMapCapabilities, BadArguments) {
  auto capability = static_cast<aclrtHostMemMapCapability>(77);
  auto ask = [&](uint32_t device, int unit) {
    return aclrtHostMemMapCapabilities(device, static_cast<aclrtHacType>(unit), &capability);
  };
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostMemMapCapabilities(0, ACL_RT_HAC_TYPE_AIC, nullptr));
  for (int unit : {10, 77, -1}) EXPECT_ACL(ACL_ERROR_INVALID_PARAM, ask(0, unit)) << unit;
  for (uint32_t device : {static_cast<uint32_t>(DeviceCount()), 99u, UINT32_MAX}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, ask(device, ACL_RT_HAC_TYPE_AIC)) << device;
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, ask(device, 10)) << "the type is looked at first";
  }
  EXPECT_EQ(static_cast<int>(capability), 77);
}

TEST_F(HostMapCapabilities, NeedNoContext) {
  for (int device = 0; device < DeviceCount(); ++device) {
    auto capability = ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
    EXPECT_OK(aclrtHostMemMapCapabilities(static_cast<uint32_t>(device), ACL_RT_HAC_TYPE_AIV, &capability));
    EXPECT_EQ(capability, ACL_RT_HOST_MEM_MAP_SUPPORTED);
  }
}

}  // namespace
}  // namespace conformance
