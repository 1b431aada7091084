// SPEC 31 §2: two-dimensional copies, synchronous and asynchronous.
#include "support.h"

namespace conformance {
namespace {

constexpr size_t kMaxAsyncHeight = 5 * 1024 * 1024;

aclrtMemcpyKind Kind(int value) {
  return static_cast<aclrtMemcpyKind>(value);
}

struct Shape {
  size_t dpitch, spitch, width, height;
  size_t DstExtent() const { return height == 0 ? 0 : (height - 1) * dpitch + width; }
  size_t SrcExtent() const { return height == 0 ? 0 : (height - 1) * spitch + width; }
};

// What a 2D copy means, one byte at a time.
void Reference(Bytes& dst, const Bytes& src, size_t dst_at, size_t src_at, const Shape& shape) {
  for (size_t r = 0; r < shape.height; ++r) {
    for (size_t i = 0; i < shape.width; ++i) {
      dst[dst_at + r * shape.dpitch + i] = src[src_at + r * shape.spitch + i];
    }
  }
}

// The parameter: false = aclrtMemcpy2d, true = aclrtMemcpy2dAsync.
class Memcpy2d : public OnTwoDevices, public testing::WithParamInterface<bool> {
 protected:
  static aclError Go(void* dst, const void* src, const Shape& s, int kind, aclrtStream stream = nullptr) {
    return GetParam()
               ? aclrtMemcpy2dAsync(dst, s.dpitch, src, s.spitch, s.width, s.height, Kind(kind), stream)
               : aclrtMemcpy2d(dst, s.dpitch, src, s.spitch, s.width, s.height, Kind(kind));
  }

  // One copy in each direction against the reference, every byte of both buffers looked at.
  static void Compare(const Shape& shape, uint32_t seed, bool pinned) {
    const size_t before = seed % 70, after = 1 + seed % 50;
    const size_t device_size = before + std::max(shape.DstExtent(), shape.SrcExtent()) + after;
    Bytes host = Pattern(device_size, seed), device = Pattern(device_size, seed + 1);
    DeviceBlock block(device);
    PinnedBlock buffer(host);
    uint8_t* host_base = pinned ? buffer.get() : host.data();

    ASSERT_OK(Go(block.at(before), host_base + before, shape, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_OK(aclrtSynchronizeStream(nullptr));
    Reference(device, Pattern(device_size, seed), before, before, shape);
    ASSERT_TRUE(block.Read() == device);

    // Back, with the pitches exchanged; from here on the host is the destination.
    Bytes expected = Pattern(device_size, seed + 2);
    std::memcpy(host_base, expected.data(), device_size);
    const Shape back = {shape.spitch, shape.dpitch, shape.width, shape.height};
    ASSERT_OK(Go(host_base + before, block.at(before), back, ACL_MEMCPY_DEVICE_TO_HOST));
    ASSERT_OK(aclrtSynchronizeStream(nullptr));
    Reference(expected, device, before, before, back);
    ASSERT_TRUE(Bytes(host_base, host_base + device_size) == expected);
    ASSERT_TRUE(block.Read() == device) << "the source side stays";
  }
};

INSTANTIATE_TEST_SUITE_P(SyncAndAsync, Memcpy2d, testing::Bool());

TEST_P(Memcpy2d, RandomShapesMatchTheReference) {
  std::minstd_rand random(GetParam() ? 11 : 12);
  for (uint32_t i = 0; i < 60; ++i) {
    const size_t width = random() % (i % 3 == 0 ? 5000 : 80), height = random() % 40;
    const Shape shape = {width + random() % 100, width + random() % 100, width, height};
    if (shape.dpitch == 0 || shape.spitch == 0) continue;
    Compare(shape, random() % 1000, i % 2 == 0);
    if (HasFatalFailure()) {
      FAIL() << shape.dpitch << " " << shape.spitch << " " << shape.width << "x" << shape.height;
    }
  }
}

TEST_P(Memcpy2d, NarrowAndWideRows) {
  for (size_t width : {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 65, 128, 4096, 70000}) {
    Compare({width, width, width, 9}, 3, true);
    Compare({width + 1, width + 3, width, 9}, 4, true);
    Compare({width + 64, width, width, 9}, 5, false);
    Compare({width, width + 64, width, 1}, 6, false);
  }
}

TEST_P(Memcpy2d, EmptyMatrixIsASuccess) {
  DeviceBlock block(Pattern(64, 1));
  PinnedBlock host(Pattern(64, 2));
  for (const Shape& shape :
       {Shape{8, 8, 0, 8}, {8, 8, 8, 0}, {8, 8, 0, 0}, {0, 0, 0, 5}, {8, 8, 0, SIZE_MAX / 16}}) {
    if (GetParam() && shape.height > kMaxAsyncHeight) continue;
    EXPECT_OK(Go(block.get(), host.get(), shape, ACL_MEMCPY_HOST_TO_DEVICE))
        << shape.width << "x" << shape.height;
  }
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(block.Read(), Pattern(64, 1));
}

TEST_P(Memcpy2d, OnlyTheExtentCounts) {
  // One row: the pitch may be far larger than the block. Two rows: the second one lies beyond it.
  DeviceBlock block(Pattern(64, 1));
  PinnedBlock host(Pattern(64, 2));
  EXPECT_OK(Go(block.get(), host.get(), {8 * kGiB, 8 * kGiB, 64, 1}, ACL_MEMCPY_HOST_TO_DEVICE));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(block.Read(), Pattern(64, 2));
  DeviceBlock exact(Pattern(2 * 64 + 10, 1));  // three rows of ten bytes, pitch 64, no room for a fourth
  PinnedBlock rows(Pattern(256, 3));
  EXPECT_OK(Go(exact.get(), rows.get(), {64, 64, 10, 3}, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             Go(exact.get(), rows.get(), {128, 64, 10, 3}, ACL_MEMCPY_HOST_TO_DEVICE));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
}

TEST_P(Memcpy2d, LeavingTheBlockMovesNothing) {
  DeviceBlock block(Pattern(4096, 1));
  PinnedBlock host(Pattern(2 * 4096, 2));
  const aclError refused = ACL_ERROR_RT_PARAM_INVALID;
  EXPECT_ACL(refused, Go(block.get(), host.get(), {64, 64, 64, 66}, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(refused, Go(block.at(128), host.get(), {64, 64, 64, 64}, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(refused, Go(host.get(), block.get(), {64, 64, 64, 66}, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_ACL(refused, Go(FreedDeviceAddress(), host.get(), {64, 64, 64, 2}, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(refused, Go(block.get(), host.get(), {kGiB, 64, 64, 2}, ACL_MEMCPY_HOST_TO_DEVICE));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(block.Read(), Pattern(4096, 1));
  EXPECT_EQ(host.Read(), Pattern(2 * 4096, 2));
}

TEST_P(Memcpy2d, PitchMayNotBeSmallerThanWidth) {
  DeviceBlock block(Pattern(4096, 1));
  PinnedBlock host(Pattern(4096, 2));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             Go(block.get(), host.get(), {63, 64, 64, 4}, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             Go(block.get(), host.get(), {64, 63, 64, 4}, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             Go(block.get(), host.get(), {63, 64, 64, 1}, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(host.get(), block.get(), {0, 64, 64, 4}, ACL_MEMCPY_DEVICE_TO_HOST));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(block.Read(), Pattern(4096, 1));
  EXPECT_EQ(host.Read(), Pattern(4096, 2));
}

TEST_P(Memcpy2d, ExtentMayNotOverflow) {
  DeviceBlock block(Pattern(64, 1));
  PinnedBlock host(64);
  const size_t half = size_t{1} << 63;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             Go(block.get(), host.get(), {half, 64, 64, 3}, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             Go(block.get(), host.get(), {64, half, 64, 3}, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             Go(block.get(), host.get(), {SIZE_MAX, 64, 64, 2}, ACL_MEMCPY_HOST_TO_DEVICE));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(block.Read(), Pattern(64, 1));
}

TEST_P(Memcpy2d, HeightLimitIsOnlyForTheAsynchronousCall) {
  const size_t limit = kMaxAsyncHeight;
  DeviceBlock block(limit + 1);
  PinnedBlock host(Pattern(limit + 1, 4));
  ASSERT_OK(aclrtMemset(block.get(), limit + 1, 0, limit + 1));
  EXPECT_OK(Go(block.get(), host.get(), {1, 1, 1, limit}, ACL_MEMCPY_HOST_TO_DEVICE));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  Bytes expected = Pattern(limit + 1, 4);
  expected.back() = 0;
  EXPECT_TRUE(block.Read() == expected);
  const aclError one_more = GetParam() ? ACL_ERROR_INVALID_PARAM : ACL_SUCCESS;
  EXPECT_ACL(one_more, Go(block.get(), host.get(), {1, 1, 1, limit + 1}, ACL_MEMCPY_HOST_TO_DEVICE));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(block.Read() == (GetParam() ? expected : Pattern(limit + 1, 4)));
}

TEST_P(Memcpy2d, OnlyTwoKinds) {
  DeviceBlock a(Pattern(64, 1)), b(Pattern(64, 2));
  PinnedBlock host(Pattern(64, 3));
  const Shape shape = {8, 8, 8, 8};
  for (int kind : {0, 3, 4, 5, 6, 7}) {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Go(a.get(), host.get(), shape, kind)) << kind;
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Go(a.get(), b.get(), shape, kind)) << kind;
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Go(a.get(), host.get(), {1, 1, 8, 8}, kind))
        << "kind before sizes";
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(nullptr, host.get(), shape, kind)) << "null before kind";
  }
  for (int kind : {8, -1}) EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(a.get(), host.get(), shape, kind)) << kind;
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(a.Read(), Pattern(64, 1));
}

TEST_P(Memcpy2d, KindMustFitTheAddresses) {
  DeviceBlock a(Pattern(64, 1)), b(Pattern(64, 2));
  PinnedBlock host(Pattern(64, 3)), other(Pattern(64, 4));
  const Shape shape = {8, 8, 8, 8};
  const aclError wrong = ACL_ERROR_RT_PARAM_INVALID;
  EXPECT_ACL(wrong, Go(a.get(), host.get(), shape, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_ACL(wrong, Go(host.get(), a.get(), shape, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(wrong, Go(a.get(), b.get(), shape, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(wrong, Go(a.get(), b.get(), shape, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_ACL(wrong, Go(other.get(), host.get(), shape, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(wrong, Go(other.get(), host.get(), shape, ACL_MEMCPY_DEVICE_TO_HOST));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(a.Read(), Pattern(64, 1));
  EXPECT_EQ(host.Read(), Pattern(64, 3));
  EXPECT_EQ(other.Read(), Pattern(64, 4));
}

TEST_P(Memcpy2d, NullAndContext) {
  DeviceBlock block(Pattern(64, 1));
  PinnedBlock host(64);
  const Shape shape = {8, 8, 8, 8};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(nullptr, host.get(), shape, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(block.get(), nullptr, shape, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(block.get(), nullptr, {8, 8, 0, 0}, 1))
      << "also for an empty matrix";
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, Go(block.get(), host.get(), shape, 1));
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Go(block.get(), host.get(), shape, 3));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(block.get(), host.get(), {4, 8, 8, 8}, 1));
  });
  EXPECT_EQ(block.Read(), Pattern(64, 1));
}

class Memcpy2dAsync : public OnTwoDevices {};

TEST_F(Memcpy2dAsync, StreamRules) {
  DeviceBlock block(Pattern(64, 1));
  PinnedBlock host(Pattern(64, 2));
  Stream stream;
  const auto go = [&](aclrtStream s) {
    return aclrtMemcpy2dAsync(block.get(), 8, host.get(), 8, 8, 8, ACL_MEMCPY_HOST_TO_DEVICE, s);
  };
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, go(stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, go(nullptr))
      << "the block is on another device and no peer access is open";
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, go(UntouchedPointer()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Pattern(64, 1));
  EXPECT_OK(go(stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Pattern(64, 2));
}

TEST_F(Memcpy2dAsync, KeepsStreamOrderAndWaitsForPageableMemory) {
  Stream stream;
  const size_t rows = 500, pitch = 1024, width = 700;
  DeviceBlock block(rows * pitch);
  PinnedBlock in(Pattern(rows * pitch, 5));
  Bytes out(rows * pitch, 0xab), expected(rows * pitch, 0xab);
  ASSERT_OK(aclrtMemsetAsync(block.get(), rows * pitch, 0x22, rows * pitch, stream.get()));
  ASSERT_OK(aclrtMemcpy2dAsync(block.get(), pitch, in.get(), pitch, width, rows, ACL_MEMCPY_HOST_TO_DEVICE,
                               stream.get()));
  ASSERT_OK(aclrtMemcpy2dAsync(out.data(), pitch, block.get(), pitch, width + 10, rows,
                               ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
  Bytes device(rows * pitch, 0x22);
  Reference(device, Pattern(rows * pitch, 5), 0, 0, {pitch, pitch, width, rows});
  Reference(expected, device, 0, 0, {pitch, pitch, width + 10, rows});
  EXPECT_TRUE(out == expected) << "pageable: done at return";
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
}

}  // namespace
}  // namespace conformance
