// SPEC 30, 34: what differs between product families and versions for memory. CONFORMANCE_VARIANT names the
// family; the runner makes a product of each.
#include "support.h"

namespace conformance {
namespace {

constexpr aclError kNone = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
constexpr size_t kPage = 4096;

bool AtLeast(const char* version) {
  return Cann() >= version;
}
bool Is(const char* family) {
  return Variant() == family;
}
aclError Where(bool there) {
  return there ? ACL_SUCCESS : kNone;
}

class MemoryProfile : public OnDevice0 {};

TEST_F(MemoryProfile, RegistrationByFlags) {
  const bool registers = AtLeast("8.5") && (Is("950") || Is("A3") || Is("A2"));
  const bool points = AtLeast("8.5") && (Is("A3") || Is("A2"));
  PinnedBlock block(kPage);
  void* device = UntouchedPointer();
  ASSERT_ACL(Where(registers), aclrtHostRegisterV2(block.get(), kPage, ACL_HOST_REG_MAPPED));
  if (!registers) {
    EXPECT_ACL(kNone, aclrtHostRegisterV2(block.get(), 0, 0)) << "before the arguments";
  }
  if (!Is("950")) {
    EXPECT_ACL(Where(points), aclrtHostGetDevicePointer(block.get(), &device, 0));
    EXPECT_EQ(device != UntouchedPointer(), points);
  }
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostGetDevicePointer(block.get(), nullptr, 0)) << "null first";
}

TEST_F(MemoryProfile, OlderRegistrationsHaveDeviceAddressesFromNine) {
  if (!Is("A3") && !Is("A2")) GTEST_SKIP() << "no such registration";
  PinnedBlock block(kPage);
  void *alias = nullptr, *device = nullptr;
  ASSERT_OK(aclrtHostRegister(block.get(), kPage, ACL_HOST_REGISTER_MAPPED, &alias));
  const aclError code = AtLeast("9.0") ? ACL_SUCCESS : AtLeast("8.5") ? ACL_ERROR_RT_PARAM_INVALID : kNone;
  EXPECT_ACL(code, aclrtHostGetDevicePointer(block.get(), &device, 0));
  EXPECT_EQ(device, AtLeast("9.0") ? alias : nullptr);
  EXPECT_OK(aclrtHostUnregister(block.get()));
}

TEST_F(MemoryProfile, UnitsThatReachMappedMemory) {
  const bool there = AtLeast("8.5") && (!Is("950") || AtLeast("9.1"));
  const bool training = Is("A2") || Is("A3") || Is("950");
  for (int unit = ACL_RT_HAC_TYPE_STARS; unit <= ACL_RT_HAC_TYPE_CCU; ++unit) {
    const bool newer = unit == ACL_RT_HAC_TYPE_UDMA || unit == ACL_RT_HAC_TYPE_CCU;
    const bool never = unit == ACL_RT_HAC_TYPE_AICPU || unit == ACL_RT_HAC_TYPE_DVPP;
    const bool reaches = training && !never && (!newer || Is("950"));
    auto capability = static_cast<aclrtHostMemMapCapability>(77);
    EXPECT_ACL(Where(there), aclrtHostMemMapCapabilities(0, static_cast<aclrtHacType>(unit), &capability));
    const int expected = reaches ? ACL_RT_HOST_MEM_MAP_SUPPORTED : ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
    EXPECT_EQ(static_cast<int>(capability), there ? expected : 77) << unit;
  }
}

TEST_F(MemoryProfile, UsageByComponent) {
  aclrtMemUsageInfo records[4];
  size_t count = kUntouched;
  EXPECT_ACL(Where(AtLeast("8.5") && !Is("950")), aclrtGetMemUsageInfo(0, records, 4, &count));
}

TEST_F(MemoryProfile, PointerAttributesEverywhere) {
  DeviceBlock block(64);
  aclrtPtrAttributes attributes;
  ASSERT_OK(aclrtPointerGetAttributes(block.get(), &attributes));
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(attributes.location.id, 0u);
  EXPECT_EQ(attributes.pageSize, kPage);
}

TEST_F(MemoryProfile, CacheOperations) {
  DeviceBlock block(64);
  const bool there = Is("950") || Is("A3") || Is("A2");
  EXPECT_ACL(Where(there), aclrtCmoAsync(block.get(), 64, ACL_RT_CMO_TYPE_PREFETCH, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  const aclError barrier = Is("200I") && AtLeast("8.5") ? ACL_ERROR_RT_STREAM_MODEL : kNone;
  EXPECT_ACL(barrier, aclrtCmoAsyncWithBarrier(block.get(), 64, ACL_RT_CMO_TYPE_INVALID, 1, nullptr));
  aclrtBarrierTaskInfo info;
  std::memset(&info, 0, sizeof(info));
  info.barrierNum = 1;
  info.cmoInfo[0] = {ACL_RT_CMO_TYPE_INVALID, 1};
  EXPECT_ACL(barrier, aclrtCmoWaitBarrier(&info, nullptr, 0));
}

}  // namespace
}  // namespace conformance
