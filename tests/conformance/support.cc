#include "support.h"

namespace conformance {
namespace {

void ForgetErrors() {
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  aclGetRecentErrMsg();
}

void ReleaseAllDevices() {
  const int count = DeviceCount();
  for (int device = 0; device < count; ++device) {
    int32_t active = 1;
    aclrtGetPrimaryCtxState(device, nullptr, &active);  // profile 8.1 has no such call: try the reset
    if (active != 0) aclrtResetDeviceForce(device);
  }
  ForgetErrors();
}

std::string FromEnvironment(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : value;
}

}  // namespace

testing::AssertionResult Returns(const char* call_text, const char* code_text, aclError actual,
                                 aclError expected) {
  if (actual == expected) return testing::AssertionSuccess();
  const char* text = aclGetRecentErrMsg();
  return testing::AssertionFailure() << call_text << "\n  returned " << actual << ", expected " << expected
                                     << " (" << code_text << ")\n  "
                                     << (text == nullptr ? "no recent message" : text);
}

bool NotBuiltYet(aclError code) {
  if (code != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) return false;
  const char* text = aclGetRecentErrMsg();
  return text != nullptr && std::strstr(text, "not built yet") != nullptr;
}

std::string Cann() {
  return FromEnvironment("CONFORMANCE_CANN", "9.0");
}
std::string Variant() {
  return FromEnvironment("CONFORMANCE_VARIANT", "");
}

bool OnSoc(const char* prefix) {
  const char* name = aclrtGetSocName();
  return name != nullptr && std::strncmp(name, prefix, std::strlen(prefix)) == 0;
}

int DeviceCount() {
  uint32_t count = 0;
  EXPECT_OK(aclrtGetDeviceCount(&count));
  return static_cast<int>(count);
}

Bytes Pattern(size_t size, uint32_t seed) {
  Bytes bytes(size);
  std::minstd_rand random(seed + 1);
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    const uint64_t word = static_cast<uint64_t>(random()) * 0x9e3779b97f4a7c15u;
    std::memcpy(&bytes[i], &word, 8);
  }
  for (; i < size; ++i) bytes[i] = static_cast<uint8_t>(random());
  return bytes;
}

DeviceBlock::DeviceBlock(size_t size, aclrtMemMallocPolicy policy) : size_(size) {
  EXPECT_OK(aclrtMalloc(&ptr_, size, policy));
}

DeviceBlock::DeviceBlock(const Bytes& content, aclrtMemMallocPolicy policy)
    : DeviceBlock(content.size(), policy) {
  Write(content);
}

DeviceBlock::~DeviceBlock() {
  if (ptr_ == nullptr) return;
  EXPECT_OK(aclrtFree(ptr_));
}

Bytes DeviceBlock::Read() const {
  Bytes bytes(size_, 0xee);
  EXPECT_OK(aclrtMemcpy(bytes.data(), size_, ptr_, size_, ACL_MEMCPY_DEVICE_TO_HOST));
  return bytes;
}

void DeviceBlock::Write(const Bytes& content) const {
  EXPECT_OK(aclrtMemcpy(ptr_, size_, content.data(), content.size(), ACL_MEMCPY_HOST_TO_DEVICE));
}

PinnedBlock::PinnedBlock(size_t size) : size_(size) {
  void* ptr = nullptr;
  EXPECT_OK(aclrtMallocHost(&ptr, size));
  ptr_ = static_cast<uint8_t*>(ptr);
}

PinnedBlock::PinnedBlock(const Bytes& content) : PinnedBlock(content.size()) {
  std::memcpy(ptr_, content.data(), size_);
}

PinnedBlock::~PinnedBlock() {
  if (ptr_ == nullptr) return;
  EXPECT_OK(aclrtFreeHost(ptr_));
}

Stream::Stream() {
  EXPECT_OK(aclrtCreateStream(&stream_));
}

Stream::~Stream() {
  if (stream_ == nullptr) return;
  EXPECT_OK(aclrtDestroyStream(stream_));
}

void* FreedDeviceAddress() {
  void* ptr = nullptr;
  EXPECT_OK(aclrtMalloc(&ptr, 64 * kKiB, ACL_MEM_MALLOC_NORMAL_ONLY));
  EXPECT_OK(aclrtFree(ptr));
  return ptr;
}

void Clean::SetUp() {
  ForgetErrors();
}
void Clean::TearDown() {
  ReleaseAllDevices();
}

void OnDevice0::SetUp() {
  Clean::SetUp();
  ASSERT_OK(aclrtSetDevice(0));
}

void OnTwoDevices::SetUp() {
  Clean::SetUp();
  ASSERT_GE(DeviceCount(), 2);
  ASSERT_OK(aclrtSetDevice(1));
  ASSERT_OK(aclrtSetDevice(0));
}

}  // namespace conformance
