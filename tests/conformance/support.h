#pragma once
// What every conformance test shares: return codes shown with their text, a device per test, and nothing left
// behind.
//
// Guarantees: a fixture leaves no device selected, no last error and no recent message.
// Only the C interface is used, so that the same program can run on a card.

#include <acl/acl.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace conformance {

using Bytes = std::vector<uint8_t>;

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr size_t kGiB = 1024 * kMiB;

// What an output holds before a call that must not write it.
constexpr uintptr_t kUntouched = 0x5a5a5a5a5a5a5a5a;
inline void* UntouchedPointer() {
  return reinterpret_cast<void*>(kUntouched);
}

testing::AssertionResult Returns(const char* call_text, const char* code_text, aclError actual,
                                 aclError expected);

#define EXPECT_ACL(code, call) EXPECT_PRED_FORMAT2(::conformance::Returns, call, code)
#define ASSERT_ACL(code, call) ASSERT_PRED_FORMAT2(::conformance::Returns, call, code)
#define EXPECT_OK(call) EXPECT_ACL(ACL_SUCCESS, call)
#define ASSERT_OK(call) ASSERT_ACL(ACL_SUCCESS, call)

// Skips the test when the call is refused because this version of Belay lacks the feature; the test wakes up
// with it.
bool NotBuiltYet(aclError code);
#define SKIP_UNLESS_BUILT(call)                                            \
  do {                                                                     \
    if (::conformance::NotBuiltYet(call)) GTEST_SKIP() << "not built yet"; \
  } while (0)

// What the runner says about the process; empty without a runner.
std::string Cann();     // "8.1", "8.5", "9.0" or "9.1"
std::string Variant();  // name of a special environment, for suites that need one
bool OnSoc(const char* prefix);

int DeviceCount();

template <typename Body>
void OnNewThread(Body body) {
  std::thread(std::move(body)).join();
}

Bytes Pattern(size_t size, uint32_t seed);

// Device memory of the current device, freed at the end of the scope.
class DeviceBlock {
 public:
  explicit DeviceBlock(size_t size, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST);
  explicit DeviceBlock(const Bytes& content, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST);
  ~DeviceBlock();
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;

  void* get() const { return ptr_; }
  uint8_t* at(size_t offset) const { return static_cast<uint8_t*>(ptr_) + offset; }
  size_t size() const { return size_; }
  void* release() { return std::exchange(ptr_, nullptr); }
  Bytes Read() const;
  void Write(const Bytes& content) const;

 private:
  void* ptr_ = nullptr;
  size_t size_ = 0;
};

// Pinned host memory, freed at the end of the scope.
class PinnedBlock {
 public:
  explicit PinnedBlock(size_t size);
  explicit PinnedBlock(const Bytes& content);
  ~PinnedBlock();
  PinnedBlock(const PinnedBlock&) = delete;
  PinnedBlock& operator=(const PinnedBlock&) = delete;

  uint8_t* get() const { return ptr_; }
  uint8_t* at(size_t offset) const { return ptr_ + offset; }
  size_t size() const { return size_; }
  void* release() { return std::exchange(ptr_, nullptr); }
  Bytes Read() const { return Bytes(ptr_, ptr_ + size_); }

 private:
  uint8_t* ptr_ = nullptr;
  size_t size_ = 0;
};

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  aclrtStream get() const { return stream_; }
  aclrtStream release() { return std::exchange(stream_, nullptr); }

 private:
  aclrtStream stream_ = nullptr;
};

// An address of the device range that no block covers.
void* FreedDeviceAddress();

// Starts and ends with no device selected by anybody.
class Clean : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
};

class OnDevice0 : public Clean {
 protected:
  void SetUp() override;
};

class OnTwoDevices : public Clean {
 protected:
  void SetUp() override;  // device 0 is current
};

}  // namespace conformance
