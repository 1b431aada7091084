// SPEC 30 §2.7–§2.9: freeing, cache maintenance and the address-range query.
#include "support.h"

namespace conformance {
namespace {

using Release = aclError (*)(void*);

size_t FreeBytes() {
  size_t free = 0, total = 0;
  EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  return free;
}

class Free : public OnTwoDevices, public testing::WithParamInterface<Release> {};

INSTANTIATE_TEST_SUITE_P(Both, Free, testing::Values(&aclrtFree, &aclrtFreeWithDevSync));

TEST_P(Free, NullIsAnError) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, GetParam()(nullptr));
  OnNewThread(
      [] { EXPECT_ACL(ACL_ERROR_INVALID_PARAM, GetParam()(nullptr)) << "null comes before context"; });
}

TEST_P(Free, NeedsADevice) {
  DeviceBlock block(Pattern(100, 1));
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, GetParam()(block.get())); });
  EXPECT_EQ(block.Read(), Pattern(100, 1));
}

TEST_P(Free, TakesOnlyTheStartOfALiveBlock) {
  DeviceBlock block(Pattern(4096, 2));
  PinnedBlock pinned(4096);
  Bytes pageable(4096);
  const size_t before = FreeBytes();
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(block.at(64)));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(pinned.get()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(pageable.data()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(UntouchedPointer()));
  EXPECT_EQ(FreeBytes(), before);
  EXPECT_EQ(block.Read(), Pattern(4096, 2));
}

TEST_P(Free, SecondTimeIsAnError) {
  void* ptr = nullptr;
  ASSERT_OK(aclrtMalloc(&ptr, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(GetParam()(ptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(ptr));
}

TEST_P(Free, AnyDeviceMayBeCurrent) {
  ASSERT_OK(aclrtSetDevice(1));
  const size_t before = FreeBytes();
  void* ptr = nullptr;
  ASSERT_OK(aclrtMalloc(&ptr, 3 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(GetParam()(ptr));
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_EQ(FreeBytes(), before);
}

TEST_P(Free, OtherThreadMayFree) {
  void* ptr = nullptr;
  ASSERT_OK(aclrtMalloc(&ptr, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  OnNewThread([&] {
    ASSERT_OK(aclrtSetDevice(0));
    EXPECT_OK(GetParam()(ptr));
  });
}

TEST_P(Free, FreedMemoryIsUnknownToCopies) {
  void* gone = FreedDeviceAddress();
  Bytes host(64, 7);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(host.data(), 64, gone, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(host, Bytes(64, 7));
}

class FreeQueued : public OnTwoDevices {
 protected:
  static constexpr size_t kSize = 2 * kMiB;
};

TEST_F(FreeQueued, WithDevSyncWaitsForTheTasks) {
  Stream stream;
  PinnedBlock target(kSize);
  DeviceBlock source(Pattern(kSize, 3));
  ASSERT_OK(
      aclrtMemcpyAsync(target.get(), kSize, source.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
  EXPECT_OK(aclrtFreeWithDevSync(source.release()));
  EXPECT_EQ(target.Read(), Pattern(kSize, 3));
}

TEST_F(FreeQueued, WithDevSyncWaitsForTheOwner) {
  ASSERT_OK(aclrtSetDevice(1));
  PinnedBlock target(kSize);
  DeviceBlock source(Pattern(kSize, 4));
  ASSERT_OK(aclrtMemcpyAsync(target.get(), kSize, source.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtFreeWithDevSync(source.release()));
  EXPECT_EQ(target.Read(), Pattern(kSize, 4));
}

TEST_F(FreeQueued, PlainFreeLetsQueuedTasksFinish) {
  Stream stream;
  PinnedBlock target(kSize);
  DeviceBlock source(Pattern(kSize, 5));
  ASSERT_OK(
      aclrtMemcpyAsync(target.get(), kSize, source.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
  EXPECT_OK(aclrtFree(source.release()));
  DeviceBlock next(kSize);  // may not take the same bytes before the copy has read them
  ASSERT_OK(aclrtMemset(next.get(), kSize, 0x11, kSize));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(target.Read(), Pattern(kSize, 5));
}

using Maintain = aclError (*)(void*, size_t);

class CacheMaintenance : public OnDevice0, public testing::WithParamInterface<Maintain> {};

INSTANTIATE_TEST_SUITE_P(Both, CacheMaintenance, testing::Values(&aclrtMemFlush, &aclrtMemInvalidate));

TEST_P(CacheMaintenance, ChecksItsRangeAndDoesNothing) {
  DeviceBlock block(Pattern(4096, 6));
  Bytes host(64);
  EXPECT_OK(GetParam()(block.get(), 4096));
  EXPECT_OK(GetParam()(block.at(100), 1000));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, GetParam()(nullptr, 64));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, GetParam()(block.get(), 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(block.at(64), 8192));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(block.get(), SIZE_MAX));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(host.data(), 64));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, GetParam()(FreedDeviceAddress(), 64));
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, GetParam()(block.get(), 64)); });
  EXPECT_EQ(block.Read(), Pattern(4096, 6));
}

class AddressRange : public OnDevice0 {
 protected:
  void ExpectBlock(void* query, void* base, size_t size) {
    void* got = UntouchedPointer();
    size_t got_size = kUntouched;
    EXPECT_OK(aclrtMemGetAddressRange(query, &got, &got_size));
    EXPECT_EQ(got, base);
    EXPECT_EQ(got_size, size);
  }
  void ExpectRefused(aclError code, void* query) {
    void* got = UntouchedPointer();
    size_t got_size = kUntouched;
    EXPECT_ACL(code, aclrtMemGetAddressRange(query, &got, &got_size));
    EXPECT_EQ(got, UntouchedPointer());
    EXPECT_EQ(got_size, kUntouched);
  }
};

TEST_F(AddressRange, IsWhatTheCallerAskedFor) {
  DeviceBlock small(100), large(3 * kMiB);
  ExpectBlock(small.get(), small.get(), 100);
  ExpectBlock(small.at(99), small.get(), 100);
  ExpectBlock(large.at(2 * kMiB), large.get(), 3 * kMiB);
}

TEST_F(AddressRange, KnowsPinnedMemory) {
  PinnedBlock pinned(5000);
  ExpectBlock(pinned.get(), pinned.get(), 5000);
  ExpectBlock(pinned.at(4999), pinned.get(), 5000);
}

TEST_F(AddressRange, KnowsNothingElse) {
  Bytes pageable(64);
  ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, pageable.data());
  ExpectRefused(ACL_ERROR_RT_PARAM_INVALID, FreedDeviceAddress());
  ExpectRefused(ACL_ERROR_INVALID_PARAM, nullptr);
  DeviceBlock block(100);
  void* base = UntouchedPointer();
  size_t size = kUntouched;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemGetAddressRange(block.get(), nullptr, &size));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemGetAddressRange(block.get(), &base, nullptr));
  EXPECT_EQ(size, kUntouched);
  EXPECT_EQ(base, UntouchedPointer());
  OnNewThread([&] { ExpectRefused(ACL_ERROR_RT_CONTEXT_NULL, block.get()); });
}

}  // namespace
}  // namespace conformance
