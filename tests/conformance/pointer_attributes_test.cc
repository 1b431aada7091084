// SPEC 34 §3: where an address lies.
#include <sys/mman.h>

#include "support.h"

namespace conformance {
namespace {

constexpr size_t kPage = 4096;

struct Attributes {
  int type = -1, id = -1;
  uint32_t page = 77;
  bool operator==(const Attributes& other) const {
    return type == other.type && id == other.id && page == other.page;
  }
};
std::ostream& operator<<(std::ostream& out, const Attributes& attributes) {
  return out << "type " << attributes.type << " id " << attributes.id << " page " << attributes.page;
}

const Attributes kUnregistered = {ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0};
const Attributes kHost = {ACL_MEM_LOCATION_TYPE_HOST, 0, kPage};
Attributes OnDevice(int device, size_t page) {
  return {ACL_MEM_LOCATION_TYPE_DEVICE, device, static_cast<uint32_t>(page)};
}

Attributes Ask(const void* ptr) {
  aclrtPtrAttributes answer;
  std::memset(&answer, 0x77, sizeof(answer));
  EXPECT_OK(aclrtPointerGetAttributes(ptr, &answer));
  for (uint32_t value : answer.rsv) EXPECT_EQ(value, 0u);
  return {static_cast<int>(answer.location.type), static_cast<int>(answer.location.id), answer.pageSize};
}

void ExpectRefused(aclError code, const void* ptr) {
  aclrtPtrAttributes answer, before;
  std::memset(&answer, 0x77, sizeof(answer));
  before = answer;
  EXPECT_ACL(code, aclrtPointerGetAttributes(ptr, &answer));
  EXPECT_EQ(std::memcmp(&answer, &before, sizeof(answer)), 0);
}

class PointerAttributes : public OnTwoDevices {};

TEST_F(PointerAttributes, BadArguments) {
  DeviceBlock block(64);
  ExpectRefused(ACL_ERROR_INVALID_PARAM, nullptr);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtPointerGetAttributes(block.get(), nullptr));
  OnNewThread([&] { ExpectRefused(ACL_ERROR_RT_CONTEXT_NULL, block.get()); });
}

TEST_F(PointerAttributes, OfDeviceMemory) {
  DeviceBlock small(5000, ACL_MEM_MALLOC_NORMAL_ONLY), huge(3 * kMiB, ACL_MEM_MALLOC_HUGE_ONLY),
      giant(kMiB, ACL_MEM_MALLOC_HUGE1G_ONLY);
  EXPECT_EQ(Ask(small.get()), OnDevice(0, kPage));
  EXPECT_EQ(Ask(small.at(4999)), OnDevice(0, kPage)) << "interior addresses too";
  EXPECT_EQ(Ask(huge.at(kMiB)), OnDevice(0, 2 * kMiB));
  EXPECT_EQ(Ask(giant.get()), OnDevice(0, kGiB));
  EXPECT_EQ(Ask(small.at(5000)), kUnregistered) << "the padding belongs to nobody";
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_EQ(Ask(small.get()), OnDevice(0, kPage)) << "of its owner, whatever is current";
  {
    DeviceBlock there(64);
    EXPECT_EQ(Ask(there.get()), OnDevice(1, kPage));
  }
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_EQ(Ask(FreedDeviceAddress()), kUnregistered);
}

TEST_F(PointerAttributes, OfHostMemory) {
  PinnedBlock pinned(3 * kPage);
  EXPECT_EQ(Ask(pinned.get()), kHost);
  EXPECT_EQ(Ask(pinned.at(3 * kPage - 1)), kHost);
  uint8_t* freed = pinned.get();
  ASSERT_OK(aclrtFreeHost(pinned.release()));
  EXPECT_EQ(Ask(freed), kUnregistered);
  int local = 0;
  Bytes heap(100);
  EXPECT_EQ(Ask(&local), kUnregistered);
  EXPECT_EQ(Ask(heap.data() + 50), kUnregistered);
  EXPECT_EQ(Ask(reinterpret_cast<void*>(16)), kUnregistered);
  EXPECT_EQ(Ask(UntouchedPointer()), kUnregistered);
  void* mapping = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapping, MAP_FAILED);
  EXPECT_EQ(Ask(mapping), kUnregistered);
  munmap(mapping, kPage);
}

TEST_F(PointerAttributes, OfRegisteredMemory) {
  auto* pages = static_cast<uint8_t*>(std::aligned_alloc(kPage, 4 * kPage));
  for (uint32_t flag :
       {ACL_HOST_REG_MAPPED, ACL_HOST_REG_PINNED, ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED}) {
    ASSERT_OK(aclrtHostRegisterV2(pages, 2 * kPage, flag));
    EXPECT_EQ(Ask(pages), kHost) << flag;
    EXPECT_EQ(Ask(pages + 2 * kPage - 1), kHost) << flag;
    EXPECT_EQ(Ask(pages + 2 * kPage), kUnregistered) << flag;
    EXPECT_OK(aclrtHostUnregister(pages));
    EXPECT_EQ(Ask(pages), kUnregistered) << flag;
  }
  void* alias = nullptr;
  ASSERT_OK(aclrtHostRegister(pages, 2 * kPage, ACL_HOST_REGISTER_MAPPED, &alias));
  EXPECT_EQ(Ask(pages), kHost);
  EXPECT_EQ(Ask(alias), OnDevice(0, kPage));
  EXPECT_EQ(Ask(static_cast<uint8_t*>(alias) + kPage), OnDevice(0, kPage));
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_EQ(Ask(alias), OnDevice(1, kPage)) << "of the current device";
  EXPECT_OK(aclrtHostUnregister(pages));
  EXPECT_EQ(Ask(alias), kUnregistered);
  ASSERT_OK(aclrtSetDevice(0));
  std::free(pages);
}

// The quirk ptrattr.strict.
class PointerStrict : public OnDevice0 {
 protected:
  void SetUp() override {
    if (Variant() != "strict pointers") GTEST_SKIP() << "needs the quirk ptrattr.strict";
    OnDevice0::SetUp();
  }
};

TEST_F(PointerStrict, UnknownAddressesAreRefused) {
  int local = 0;
  ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, &local);
  ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, FreedDeviceAddress());
  ExpectRefused(ACL_ERROR_INVALID_PARAM, nullptr);
  OnNewThread([&] { ExpectRefused(ACL_ERROR_RT_CONTEXT_NULL, &local); });
  DeviceBlock block(64);
  PinnedBlock pinned(64);
  EXPECT_EQ(Ask(block.get()), OnDevice(0, kPage));
  EXPECT_EQ(Ask(pinned.get()), kHost);
}

}  // namespace
}  // namespace conformance
