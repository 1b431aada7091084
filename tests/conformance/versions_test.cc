// What differs between the versions 8.1, 8.5, 9.0 and 9.1 for the functions built. CONFORMANCE_CANN says
// which one runs.
#include <regex>

#include "support.h"

namespace conformance {
namespace {

constexpr aclError kNone = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;

class Versions : public OnTwoDevices {
 protected:
  static bool AtLeast(const char* version) { return Cann() >= version; }
  static aclError From(const char* version, aclError code = ACL_SUCCESS) {
    return AtLeast(version) ? code : kNone;
  }

  static void CheckLayout(const char* pattern) {
    EXPECT_NE(aclrtSetDevice(99), ACL_SUCCESS);
    const char* text = aclGetRecentErrMsg();
    ASSERT_NE(text, nullptr);
    EXPECT_TRUE(std::regex_search(text, std::regex(pattern))) << text;
  }
};

TEST_F(Versions, Number) {
  int32_t major = -1, minor = -1, patch = -1;
  ASSERT_OK(aclrtGetVersion(&major, &minor, &patch));
  EXPECT_EQ(major, 1);
  EXPECT_EQ(minor, AtLeast("8.5") ? 15 : 14);
  EXPECT_EQ(patch, 0);
}

TEST_F(Versions, MemoryAttributes) {
  for (int attr = 0; attr < 18; ++attr) {
    size_t free = kUntouched, total = kUntouched;
    const aclError code = attr < 12 ? ACL_SUCCESS : From("9.0");
    EXPECT_ACL(code, aclrtGetMemInfo(static_cast<aclrtMemAttr>(attr), &free, &total)) << attr;
    if (code != ACL_SUCCESS) {
      EXPECT_EQ(free, kUntouched);
    }
  }
  size_t value = 0;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemInfo(static_cast<aclrtMemAttr>(18), &value, &value));
}

TEST_F(Versions, FunctionsThatCameLater) {
  void* block = nullptr;
  ASSERT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  void* base = UntouchedPointer();
  size_t size = kUntouched;
  EXPECT_ACL(From("9.0"), aclrtMemGetAddressRange(block, &base, &size));
  EXPECT_ACL(From("8.5"), aclrtFreeWithDevSync(block));
  if (!AtLeast("8.5")) {
    EXPECT_OK(aclrtFree(block));
  }
  void* pinned = nullptr;
  ASSERT_OK(aclrtMallocHost(&pinned, 64));
  EXPECT_ACL(From("8.5"), aclrtFreeHostWithDevSync(pinned));
  if (!AtLeast("8.5")) {
    EXPECT_OK(aclrtFreeHost(pinned));
  }

  int32_t number = -7;
  uint32_t count = 77;
  aclrtStream stream = nullptr;
  EXPECT_ACL(From("8.5"), aclrtDevicePeerAccessStatus(0, 1, &number));
  EXPECT_ACL(From("8.5"), aclrtCtxGetCurrentDefaultStream(&stream));
  EXPECT_ACL(From("8.5"), aclrtGetPrimaryCtxState(0, nullptr, &number));
  EXPECT_ACL(From("8.5"), aclrtStreamGetId(nullptr, &number));
  EXPECT_ACL(From("8.5"), aclrtGetStreamAvailableNum(&count));
  EXPECT_ACL(From("9.0"), aclrtStreamGetPriority(nullptr, &count));
  EXPECT_ACL(From("9.0"), aclrtStreamGetFlags(nullptr, &count));

  DeviceBlock shared(64);
  ASSERT_OK(aclrtSetDevice(1));
  ASSERT_OK(aclrtDeviceEnablePeerAccess(0, 0)) << "in every version";
  EXPECT_ACL(From("9.0"), aclrtMemP2PMap(shared.get(), 64, 1, 0));
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(Versions, NullBeforeTheVersion) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemGetAddressRange(nullptr, nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDevicePeerAccessStatus(0, 1, nullptr));
  OnNewThread([] {
    int32_t number = -7;
    EXPECT_ACL(From("8.5", ACL_ERROR_RT_CONTEXT_NULL), aclrtStreamGetId(nullptr, &number))
        << "version before context";
    size_t value = 0;
    EXPECT_ACL(From("9.0", ACL_ERROR_RT_CONTEXT_NULL), aclrtGetMemInfo(ACL_MEM_HUGE, &value, &value));
  });
}

TEST_F(Versions, CopyKinds) {
  DeviceBlock a(Pattern(64, 1)), b(64);
  PinnedBlock host(Pattern(64, 2));
  for (auto copy : {&aclrtMemcpyAsync, &aclrtMemcpyAsyncWithCondition}) {
    EXPECT_ACL(From("8.5"), copy(b.get(), 64, host.get(), 64, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, nullptr));
    EXPECT_ACL(From("8.5"), copy(b.get(), 64, a.get(), 64, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, nullptr));
    EXPECT_ACL(From("8.5", ACL_ERROR_RT_PARAM_INVALID),
               copy(b.get(), 64, a.get(), 64, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE, nullptr));
    EXPECT_OK(copy(b.get(), 64, a.get(), 64, ACL_MEMCPY_DEFAULT, nullptr));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
               copy(b.get(), 64, a.get(), 64, static_cast<aclrtMemcpyKind>(8), nullptr));
  }
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  for (int kind = 5; kind < 8; ++kind) {
    EXPECT_ACL(From("8.5"), aclrtMemcpy(b.get(), 64, host.get(), 64, static_cast<aclrtMemcpyKind>(kind)))
        << kind;
  }
}

TEST_F(Versions, CachedAllocationsKnowFourPoliciesFromNineOne) {
  const aclError other = AtLeast("9.1") ? kNone : ACL_SUCCESS;
  for (int policy : {0, 1, 2, 6, 3, 4, 5, 7, 0x100, 0x1001, 0x77}) {
    const bool listed = policy <= 2 || policy == 6;
    void* ptr = nullptr;
    EXPECT_ACL(listed ? ACL_SUCCESS : other,
               aclrtMallocCached(&ptr, 64, static_cast<aclrtMemMallocPolicy>(policy)))
        << policy;
    if (ptr != nullptr) {
      EXPECT_OK(aclrtFree(ptr));
    }
  }
}

TEST_F(Versions, SameAddressFlag) {
  aclrtMallocAttribute attribute;
  std::memset(&attribute, 0, sizeof(attribute));
  attribute.attr = ACL_RT_MEM_ATTR_VA_FLAG;
  attribute.value.vaFlag = 1;
  aclrtMallocConfig config = {&attribute, 1};
  void* ptr = nullptr;
  EXPECT_ACL(From("8.5"), aclrtMallocHostWithCfg(&ptr, 64, &config));
  if (ptr != nullptr) {
    EXPECT_OK(aclrtFreeHost(ptr));
  }
}

TEST_F(Versions, PageableCopiesAreDoneAtReturn) {
  DeviceBlock block(Pattern(kMiB, 3));
  Bytes host(kMiB);
  ASSERT_OK(aclrtMemcpyAsync(host.data(), kMiB, block.get(), kMiB, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
  EXPECT_TRUE(host == Pattern(kMiB, 3)) << "in every version";
}

TEST_F(Versions, PeerCopies) {
  DeviceBlock from(Pattern(64, 4));
  ASSERT_OK(aclrtSetDevice(1));
  DeviceBlock to(64);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(to.get(), 64, from.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
  ASSERT_OK(aclrtDeviceEnablePeerAccess(0, 0));
  EXPECT_OK(aclrtMemcpy(to.get(), 64, from.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(to.Read(), Pattern(64, 4));
}

TEST_F(Versions, DeviceSynchronisationCoversOtherContextsBeforeNine) {
  // SPEC 20 §1.1 H6. From 9.0 on the other context's stream may or may not be done, so there is nothing to
  // see.
  if (AtLeast("9.0")) GTEST_SKIP() << "only the current context there";
  const size_t size = 4 * kMiB;
  PinnedBlock out(size);
  DeviceBlock block(Pattern(size, 5));
  Stream stream;
  aclrtContext mine = nullptr, other = nullptr;
  ASSERT_OK(aclrtGetCurrentContext(&mine));
  ASSERT_OK(aclrtMemcpyAsync(out.get(), size, block.get(), size, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
  ASSERT_OK(aclrtCreateContext(&other, 0));
  ASSERT_OK(aclrtSynchronizeDevice());
  EXPECT_TRUE(out.Read() == Pattern(size, 5));
  ASSERT_OK(aclrtDestroyContext(other));
  ASSERT_OK(aclrtSetCurrentContext(mine));
}

TEST_F(Versions, MessageLayout) {
  const std::string date = R"(\d{4}-\d{2}-\d{2}-\d{2}:\d{2}:\d{2}\.\d{3}\.\d{3} )";
  const std::string text =
      AtLeast("9.0") ? R"(^\[PID: \d+\] )" + date + R"(\w+\(E\w{5}\): )" : R"(^E\w{5}: \[PID: \d+\] )" + date;
  CheckLayout(text.c_str());
}

TEST_F(Versions, MessageOfExhaustedMemory) {
  void* ptr = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&ptr, SIZE_MAX / 2, ACL_MEM_MALLOC_HUGE_ONLY));
  const char* message = aclGetRecentErrMsg();
  ASSERT_NE(message, nullptr);
  const std::string text = message;
  EXPECT_NE(text.find("EL0004"), std::string::npos) << "older clients search for it: " << text;
  EXPECT_EQ(text.find("EL0019") != std::string::npos, AtLeast("9.1")) << text;
}

TEST_F(Versions, StreamPriorities) {
  if (!AtLeast("9.0")) GTEST_SKIP() << "cannot be asked";
  aclrtStream stream = nullptr;
  uint32_t priority = 77;
  ASSERT_OK(aclrtCreateStreamWithConfig(&stream, 1000, 0));
  EXPECT_OK(aclrtStreamGetPriority(stream, &priority));
  EXPECT_EQ(priority, AtLeast("9.1") ? 7u : 0u) << "9.1 clamps, 9.0 reserves it on this product";
  EXPECT_OK(aclrtDestroyStream(stream));
}

class AtomicCapabilities : public Clean {
 protected:
  using Operations = std::vector<aclrtAtomicOperation>;
  static aclrtAtomicOperation Operation(int code) { return static_cast<aclrtAtomicOperation>(code); }
  void SetUp() override {
    if (Cann() != "9.1") GTEST_SKIP() << "profile 9.1 only";
    Clean::SetUp();
  }
};

TEST_F(AtomicCapabilities, NoneOnThisProduct) {
  Operations operations;
  for (int code = 0; code < 32; ++code) operations.push_back(Operation(code));
  for (const auto& [from, to] : {std::pair{0, 1}, {1, 0}, {0, 0}}) {
    std::vector<uint32_t> masks(32, 77);
    EXPECT_OK(aclrtDeviceGetP2PAtomicCapabilities(masks.data(), operations.data(), 32, from, to));
    EXPECT_EQ(masks, std::vector<uint32_t>(32, 0));
  }
  std::vector<uint32_t> masks(32, 77);
  EXPECT_OK(aclrtDeviceGetHostAtomicCapabilities(masks.data(), operations.data(), 32, 0));
  EXPECT_EQ(masks, std::vector<uint32_t>(32, 0));
}

TEST_F(AtomicCapabilities, BadArguments) {
  const aclError bad = ACL_ERROR_INVALID_PARAM, id = ACL_ERROR_RT_INVALID_DEVICEID;
  uint32_t masks[2] = {77, 77};
  const aclrtAtomicOperation good[2] = {Operation(0), Operation(12)},
                             unknown[2] = {Operation(0), Operation(32)};
  EXPECT_ACL(bad, aclrtDeviceGetP2PAtomicCapabilities(nullptr, good, 2, 0, 1));
  EXPECT_ACL(bad, aclrtDeviceGetP2PAtomicCapabilities(masks, nullptr, 2, 0, 1));
  EXPECT_ACL(bad, aclrtDeviceGetP2PAtomicCapabilities(masks, good, 0, 0, 1));
  EXPECT_ACL(bad, aclrtDeviceGetP2PAtomicCapabilities(masks, unknown, 2, 0, 1));
  EXPECT_ACL(id, aclrtDeviceGetP2PAtomicCapabilities(masks, good, 2, 0, 99));
  EXPECT_ACL(id, aclrtDeviceGetP2PAtomicCapabilities(masks, good, 2, -1, 1));
  EXPECT_ACL(bad, aclrtDeviceGetHostAtomicCapabilities(nullptr, good, 2, 0));
  EXPECT_ACL(bad, aclrtDeviceGetHostAtomicCapabilities(masks, nullptr, 2, 0));
  EXPECT_ACL(bad, aclrtDeviceGetHostAtomicCapabilities(masks, good, 0, 0));
  EXPECT_ACL(bad, aclrtDeviceGetHostAtomicCapabilities(masks, unknown, 2, 0));
  EXPECT_ACL(id, aclrtDeviceGetHostAtomicCapabilities(masks, good, 2, 99));
  EXPECT_EQ(masks[0], 77u) << "nothing is written";
  EXPECT_EQ(masks[1], 77u);
}

}  // namespace
}  // namespace conformance
