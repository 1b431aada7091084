// SPEC 30 §3.3, §3.5: registering host memory for the device.
#include "support.h"

namespace conformance {
namespace {

constexpr size_t kPage = 4096;

// Ordinary page-aligned memory, as a C program would get it.
class Pages {
 public:
  explicit Pages(size_t count) : ptr_(static_cast<uint8_t*>(std::aligned_alloc(kPage, count * kPage))) {
    std::memset(ptr_, 0, count * kPage);
  }
  ~Pages() { std::free(ptr_); }
  uint8_t* get() const { return ptr_; }

 private:
  uint8_t* ptr_;
};

aclError Register(void* ptr, uint64_t size, void** alias) {
  return aclrtHostRegister(ptr, size, ACL_HOST_REGISTER_MAPPED, alias);
}

class HostRegister : public OnTwoDevices {
 protected:
  void ExpectRefused(aclError code, void* ptr, uint64_t size, int type = ACL_HOST_REGISTER_MAPPED) {
    void* alias = UntouchedPointer();
    EXPECT_ACL(code, aclrtHostRegister(ptr, size, static_cast<aclrtHostRegisterType>(type), &alias));
    EXPECT_EQ(alias, UntouchedPointer());
  }
};

TEST_F(HostRegister, TakesPinnedAndOrdinaryMemory) {
  PinnedBlock pinned(3 * kPage);
  Pages pages(3);
  for (uint8_t* ptr : {pinned.get(), pages.get()}) {
    void* alias = nullptr;
    ASSERT_OK(Register(ptr, 3 * kPage - 5, &alias)) << "a part of a page will do";
    EXPECT_NE(alias, nullptr);
    EXPECT_NE(alias, ptr);
    EXPECT_OK(aclrtHostUnregister(ptr));
    ASSERT_OK(Register(ptr, kPage, &alias)) << "again, after the unregistration";
    EXPECT_OK(aclrtHostUnregister(ptr));
    ptr[0] = 1;
  }
}

TEST_F(HostRegister, BadArguments) {
  Pages pages(2);
  ExpectRefused(ACL_ERROR_INVALID_PARAM, nullptr, kPage);
  ExpectRefused(ACL_ERROR_INVALID_PARAM, pages.get(), 0);
  ExpectRefused(ACL_ERROR_INVALID_PARAM, pages.get(), kPage, 99);
  ExpectRefused(ACL_ERROR_INVALID_PARAM, pages.get(), kPage, -1);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Register(pages.get(), kPage, nullptr));
  ExpectRefused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, pages.get(), kPage, ACL_HOST_REGISTER_IOMEMORY);
  ExpectRefused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, pages.get(), kPage, ACL_HOST_REGISTER_READONLY);
  OnNewThread([&] { ExpectRefused(ACL_ERROR_RT_CONTEXT_NULL, pages.get(), kPage); });
}

TEST_F(HostRegister, WantsAPageAddress) {
  Pages pages(2);
  for (size_t offset : {1, 16, 64, 2048}) ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, pages.get() + offset, 64);
}

TEST_F(HostRegister, LiveRangesMayNotOverlap) {
  Pages pages(4);
  void* alias = nullptr;
  ASSERT_OK(Register(pages.get() + kPage, 2 * kPage, &alias));
  ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, pages.get() + kPage, 2 * kPage);
  ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, pages.get(), 4 * kPage);
  ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, pages.get() + 2 * kPage, kPage);
  void* next = nullptr;
  EXPECT_OK(Register(pages.get() + 3 * kPage, kPage, &next)) << "neighbours do not overlap";
  EXPECT_NE(next, alias);
  EXPECT_OK(aclrtHostUnregister(pages.get() + 3 * kPage));
  EXPECT_OK(aclrtHostUnregister(pages.get() + kPage));
}

TEST_F(HostRegister, BelongsToOneDevice) {
  Pages pages(1);
  void* alias = nullptr;
  ASSERT_OK(Register(pages.get(), kPage, &alias));
  ASSERT_OK(aclrtSetDevice(1));
  ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, pages.get(), kPage);
  EXPECT_OK(aclrtHostUnregister(pages.get()));
  EXPECT_OK(Register(pages.get(), kPage, &alias));
  EXPECT_OK(aclrtHostUnregister(pages.get()));
}

TEST_F(HostRegister, AliasIsOnlyForTheDevice) {
  PinnedBlock pinned(Pattern(kPage, 1));
  DeviceBlock block(Pattern(kPage, 2));
  Bytes host(kPage, 9);
  void* alias = nullptr;
  ASSERT_OK(Register(pinned.get(), kPage, &alias));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(alias, 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(host.data(), 64, alias, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsync(block.get(), 64, alias, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy2d(host.data(), 8, alias, 8, 8, 8, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(alias, 64, 0, 64));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemsetAsync(alias, 64, 0, 64, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(pinned.Read(), Pattern(kPage, 1));
  EXPECT_EQ(block.Read(), Pattern(kPage, 2));
  EXPECT_EQ(host, Bytes(kPage, 9));
  EXPECT_OK(aclrtMemcpy(block.get(), kPage, pinned.get(), kPage, ACL_MEMCPY_HOST_TO_DEVICE))
      << "the host's address";
  EXPECT_EQ(block.Read(), Pattern(kPage, 1));
  EXPECT_OK(aclrtHostUnregister(pinned.get()));
}

TEST_F(HostRegister, SameAddressWithTheFlag) {
  aclrtMallocAttribute attribute;
  std::memset(&attribute, 0, sizeof(attribute));
  attribute.attr = ACL_RT_MEM_ATTR_VA_FLAG;
  attribute.value.vaFlag = 1;
  aclrtMallocConfig config = {&attribute, 1};
  void* ptr = nullptr;
  ASSERT_OK(aclrtMallocHostWithCfg(&ptr, kPage, &config));
  void* alias = nullptr;
  ASSERT_OK(Register(ptr, kPage, &alias));
  EXPECT_EQ(alias, ptr);
  DeviceBlock block(Pattern(kPage, 3));
  EXPECT_OK(aclrtMemcpy(alias, kPage, block.get(), kPage, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(std::memcmp(ptr, Pattern(kPage, 3).data(), kPage), 0);
  EXPECT_OK(aclrtHostUnregister(ptr));
  EXPECT_OK(aclrtFreeHost(ptr));
}

TEST_F(HostRegister, RegisteredMemoryTakesPartInCopies) {
  Pages pages(2);
  void* alias = nullptr;
  ASSERT_OK(Register(pages.get(), 2 * kPage, &alias));
  DeviceBlock block(Pattern(2 * kPage, 4));
  ASSERT_OK(
      aclrtMemcpyAsync(pages.get(), 2 * kPage, block.get(), 2 * kPage, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(std::memcmp(pages.get(), Pattern(2 * kPage, 4).data(), 2 * kPage), 0);
  EXPECT_OK(aclrtHostUnregister(pages.get()));
}

TEST_F(HostRegister, UnregisterWantsTheRegisteredAddress) {
  Pages pages(2);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostUnregister(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(pages.get()));
  void* alias = nullptr;
  ASSERT_OK(Register(pages.get(), 2 * kPage, &alias));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(pages.get() + kPage));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(alias));
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtHostUnregister(pages.get())); });
  EXPECT_OK(aclrtHostUnregister(pages.get()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(pages.get()));
}

TEST_F(HostRegister, ResetDropsTheRegistration) {
  Pages pages(1);
  void* alias = nullptr;
  ASSERT_OK(aclrtHostRegister(pages.get(), kPage, ACL_HOST_REGISTER_MAPPED, &alias));  // LEAK
  ASSERT_OK(aclrtResetDeviceForce(0));
  pages.get()[0] = 1;
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(pages.get()));
  EXPECT_OK(Register(pages.get(), kPage, &alias));
  EXPECT_OK(aclrtHostUnregister(pages.get()));
}

}  // namespace
}  // namespace conformance
