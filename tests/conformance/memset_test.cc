// SPEC 31 §4: memset, synchronous and asynchronous.
#include "support.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

// The parameter: false = aclrtMemset, true = aclrtMemsetAsync on the default stream.
class Memset : public OnTwoDevices, public testing::WithParamInterface<bool> {
 protected:
  static aclError Go(void* ptr, size_t room, int32_t value, size_t count, aclrtStream stream = nullptr) {
    return GetParam() ? aclrtMemsetAsync(ptr, room, value, count, stream)
                      : aclrtMemset(ptr, room, value, count);
  }
  static void Wait() { EXPECT_OK(aclrtSynchronizeStream(nullptr)); }
};

INSTANTIATE_TEST_SUITE_P(SyncAndAsync, Memset, testing::Bool());

TEST_P(Memset, SetsOnlyTheRange) {
  for (const auto& [at, count] :
       {std::pair<size_t, size_t>{0, kSize}, {1, 1}, {100, 333}, {kSize - 1, 1}, {7, 0}}) {
    Bytes expected = Pattern(kSize, 1);
    DeviceBlock block(expected);
    EXPECT_OK(Go(block.at(at), kSize - at, 0x7b, count));
    Wait();
    std::fill_n(expected.begin() + at, count, 0x7b);
    EXPECT_EQ(block.Read(), expected) << at << "+" << count;
  }
}

TEST_P(Memset, UsesTheLowByte) {
  DeviceBlock block(64);
  for (int32_t value : {0, 255, 256, 0x1234, -1, INT32_MIN + 5}) {
    EXPECT_OK(Go(block.get(), 64, value, 64));
    Wait();
    EXPECT_EQ(block.Read(), Bytes(64, static_cast<uint8_t>(value & 0xff))) << value;
  }
}

TEST_P(Memset, LargeBlocks) {
  const size_t size = 20 * kMiB + 3;
  DeviceBlock block(size);
  EXPECT_OK(Go(block.get(), size, 9, size));
  Wait();
  EXPECT_TRUE(block.Read() == Bytes(size, 9));
}

TEST_P(Memset, HostMemory) {
  PinnedBlock pinned(Pattern(kSize, 2));
  EXPECT_OK(Go(pinned.get(), kSize, 3, kSize - 1));
  Wait();
  Bytes expected(kSize, 3);
  expected.back() = Pattern(kSize, 2).back();
  EXPECT_EQ(pinned.Read(), expected);
  Bytes pageable(kSize, 1);
  EXPECT_OK(Go(pageable.data(), kSize, 4, kSize));
  EXPECT_EQ(pageable, Bytes(kSize, 4)) << "pageable memory is filled at return";
  Wait();
}

TEST_P(Memset, RefusedCallsSetNothing) {
  DeviceBlock block(Pattern(kSize, 3));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(nullptr, 64, 0, 64));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(nullptr, 0, 0, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(block.get(), 63, 0, 64));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(block.get(), kSize + 64, 0, kSize + 64));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(block.at(128), kSize, 0, kSize));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(block.at(128), SIZE_MAX, 0, SIZE_MAX));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(FreedDeviceAddress(), 64, 0, 64));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, Go(block.get(), 64, 0, 64));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, Go(block.get(), 64, 0, 0));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(block.get(), 63, 0, 64));
  });
  Wait();
  EXPECT_EQ(block.Read(), Pattern(kSize, 3));
}

class MemsetStream : public OnTwoDevices {};

TEST_F(MemsetStream, StreamRules) {
  DeviceBlock block(Pattern(kSize, 4));
  Stream stream;
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtMemsetAsync(block.get(), kSize, 0, kSize, stream.get()));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtMemsetAsync(block.get(), kSize, 0, kSize, UntouchedPointer()));
  EXPECT_EQ(block.Read(), Pattern(kSize, 4));
}

TEST_F(MemsetStream, KeepsStreamOrder) {
  Stream stream;
  DeviceBlock block(kSize);
  PinnedBlock in(Pattern(kSize, 5)), first(kSize), second(kSize);
  ASSERT_OK(aclrtMemcpyAsync(block.get(), kSize, in.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
  ASSERT_OK(
      aclrtMemcpyAsync(first.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
  ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, 0x55, kSize, stream.get()));
  ASSERT_OK(
      aclrtMemcpyAsync(second.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
  ASSERT_OK(aclrtMemsetAsync(second.get(), kSize, 0x66, 10, stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(first.Read(), Pattern(kSize, 5));
  Bytes expected(kSize, 0x55);
  std::fill_n(expected.begin(), 10, 0x66);
  EXPECT_EQ(second.Read(), expected);
}

}  // namespace
}  // namespace conformance
